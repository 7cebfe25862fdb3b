"""A control group can be made, which escapes limits."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "resources_control_groups"


def exercise():
    name, root = os.path.basename(scratch()), "/sys/fs/cgroup"
    if not os.path.exists(f"{root}/cgroup.procs"):
        inner = [
            entry for entry in ("unified", "pids", "memory") if os.path.isdir(f"{root}/{entry}")
        ]
        root = f"{root}/{inner[0]}" if inner else root
    os.mkdir(f"{root}/{name}")
    os.rmdir(f"{root}/{name}")
    return "made and removed a control group"


main(CAPABILITY, exercise)
