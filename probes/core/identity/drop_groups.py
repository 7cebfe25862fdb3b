"""A process can change the groups that it belongs to."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "identity_drop_groups"


def exercise():
    in_child(lambda: os.setgroups([]))
    return "left all groups, in a child"


main(CAPABILITY, exercise)
