"""gate: the one required check.

In: GitHub's `needs` context (results and outputs of all jobs) and the plan (which jobs run, and why the others do not).
Out: a verdict. It is green only when every job that the plan asked for succeeded and showed evidence, and every other
job was skipped for a reason that the plan names. `decide.decide` is the rule; everything else here reads and shows.
"""
