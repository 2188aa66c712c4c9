"""saxpy on the GPU against plain Python. Needs `make libsaxpy.so` and a GPU."""

import ctypes
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "libsaxpy.so"


def test_saxpy() -> None:
    n, a = 1000, 2.0
    x = (ctypes.c_float * n)(*range(n))
    y = (ctypes.c_float * n)(*[1.0] * n)
    saxpy = ctypes.CDLL(str(LIBRARY)).saxpy
    assert saxpy(n, ctypes.c_float(a), x, y) == 0
    assert list(y) == [a * i + 1.0 for i in range(n)]
