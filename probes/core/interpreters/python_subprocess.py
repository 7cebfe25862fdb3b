"""Python can start programs, in a pipeline and through a shell."""

import subprocess
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_subprocess"


def exercise():
    first = subprocess.Popen(["printf", "b\\na\\n"], stdout=subprocess.PIPE)
    assert subprocess.check_output(["sort"], stdin=first.stdout, timeout=10) == b"a\nb\n"
    assert first.wait() == 0
    assert subprocess.call("exit 7", shell=True) == 7
    return "printf | sort, and a shell"


main(CAPABILITY, exercise)
