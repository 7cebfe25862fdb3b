"""Functions of C can be called, and call back (ctypes makes code at run time)."""

import ctypes
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "memory_foreign_functions"


def exercise():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    values = (ctypes.c_int * 3)(3, 1, 2)

    def order(first, second):
        return ctypes.c_int.from_address(first).value - ctypes.c_int.from_address(second).value

    ctypes.CDLL(None).qsort(values, 3, 4, compare(order))
    assert list(values) == [1, 2, 3]
    return "qsort called a function of Python's"


main(CAPABILITY, exercise)
