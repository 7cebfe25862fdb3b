"""Python can make a virtual environment, and runs from it."""

import shutil
import subprocess
import sys
import venv

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "interpreters_python_virtual_environment"


def exercise():
    directory = scratch("venv")
    try:
        venv.create(directory, symlinks=True)
        script = "import sys; sys.exit(sys.prefix == sys.base_prefix)"
        code = subprocess.call([f"{directory}/bin/python", "-I", "-c", script], timeout=15)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    assert code == 0
    return f"Python {sys.version_info.major} made a virtual environment"


main(CAPABILITY, exercise)
