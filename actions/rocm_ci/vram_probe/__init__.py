"""vram-probe: GPU memory while a command, or a stretch of a job, runs.

In: a command (or the phases `start` and `stop`), the limits, a baseline. Out: for each GPU what was in use before, at
the peak and after, who still holds memory, and one verdict: `ok`, `leak`, `growth`, `dirty-start` or `lost`.

`command.py` is the command line, `wrapping.py` and `phases.py` are the two ways to watch, `judge.py` decides. A GPU's
memory is read through a `source.Source`; what is written for people and machines is in `output`. The files in `user`
run in the user's own interpreter and need nothing but the standard library, torch and pytest.
"""
