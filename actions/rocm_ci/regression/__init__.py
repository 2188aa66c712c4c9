"""Samples to decision: is this benchmark slower than it was?

In: log ratios of interleaved blocks, process by process, and the ratios of earlier green runs. Out: a `Decision`.
"""

from rocm_ci.regression.decision import Decision, Verdict, decide

__all__ = ["Decision", "Verdict", "decide"]
