"""What every stage runs through: the protocol of a GitHub runner, and of a laptop that has none.

In: the environment (`environ.RunnerEnv.from_environ` is its only door) and a check, a function from `StageContext`
to `Outcome`. Out: `stage.run_stage` runs the check and writes its report, evidence, outputs, annotations, job summary
and record, everything redacted; `verdict.verdict` turns the record into the exit code of the action's second step.

Nothing here is re-exported: import the module that you need, so that `--help` stays cheap.
"""
