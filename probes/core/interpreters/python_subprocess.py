"""Python can start programs, in a pipeline and through a shell."""

import subprocess
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_subprocess"


def exercise():
    first = subprocess.Popen(["printf", "b\\na\\n"], stdout=subprocess.PIPE)
    second = subprocess.run(["sort"], stdin=first.stdout, capture_output=True, timeout=10)
    assert first.wait() == 0 and second.stdout == b"a\nb\n"
    assert subprocess.run("exit 7", shell=True).returncode == 7
    return "printf | sort, and a shell"


main(CAPABILITY, exercise)
