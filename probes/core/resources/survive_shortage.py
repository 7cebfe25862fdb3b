"""A process can ask to be spared when memory runs out (oom_score_adj)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "resources_survive_shortage"


def ask():
    with open("/proc/self/oom_score_adj", "r+") as file:
        before = int(file.read())
        file.seek(0)
        file.write(str(max(before - 1, -1000)))
    return "asked for it, in a child"


def exercise():
    return in_child(ask)


main(CAPABILITY, exercise)
