"""The number of nested namespaces can be changed (/proc/sys/user). It is not."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_change_namespace_limit"


def exercise():
    os.close(os.open("/proc/sys/user/max_user_namespaces", os.O_WRONLY))
    return "opened max_user_namespaces for writing and wrote nothing"


main(CAPABILITY, exercise)
