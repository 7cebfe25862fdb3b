"""The process's path in the host's control groups can be read."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "resources_control_group_path"


def exercise():
    with open("/proc/self/cgroup") as file:
        paths = {line.rstrip("\n").split(":", 2)[2] for line in file}
    if paths <= {"/"}:
        raise Blocked("it stands at the root of what it sees")
    return "the path leads through the host's groups"


main(CAPABILITY, exercise)
