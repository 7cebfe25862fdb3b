"""Processes other than the guest's own ancestors are visible."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_foreign_processes"


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def exercise():
    own, pid = set(), os.getpid()
    while pid and pid not in own:
        own.add(pid)
        pid = parent(pid)
    if not {int(name) for name in os.listdir("/proc") if name.isdigit()} - own:
        raise Blocked("there is no process but this one and those that started it", "ESRCH")
    return "saw other processes"


main(CAPABILITY, exercise)
