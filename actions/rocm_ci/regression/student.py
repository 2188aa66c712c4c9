"""Quantiles of Student's t distribution: one-sided 99 %.

Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2 (critical values of Student's t).
"""

from __future__ import annotations

from bisect import bisect_right

_T99 = {
    1: 31.821,
    2: 6.965,
    3: 4.541,
    4: 3.747,
    5: 3.365,
    6: 3.143,
    7: 2.998,
    8: 2.896,
    9: 2.821,
    10: 2.764,
    11: 2.718,
    12: 2.681,
    13: 2.650,
    14: 2.624,
    15: 2.602,
    16: 2.583,
    17: 2.567,
    18: 2.552,
    19: 2.539,
    20: 2.528,
    25: 2.485,
    30: 2.457,
    40: 2.423,
    60: 2.390,
    100: 2.364,
}
_DEGREES = sorted(_T99)


def t99(degrees: int) -> float:
    """The value that a t-distributed figure exceeds with a probability of 1 %.

    Between two rows of the table the one with fewer degrees of freedom counts, which is on the safe side.

    Raises:
        ValueError: ``degrees`` is less than 1.
    """
    if degrees < 1:
        raise ValueError("a t distribution has at least one degree of freedom")
    return _T99[_DEGREES[bisect_right(_DEGREES, degrees) - 1]]
