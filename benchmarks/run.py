"""``python benchmarks/run.py`` is ``python -m benchmarks``, from any directory."""

import os
import runpy
import sys

if __name__ == "__main__":
    # In place of the script's own directory: its modules are found as benchmarks.*, or not at all.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    runpy.run_module("benchmarks", run_name="__main__", alter_sys=True)
