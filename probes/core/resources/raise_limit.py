"""A limit that was set on a process can be raised again."""

import resource
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "resources_raise_limit"


def raise_again():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 1, hard - 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 1, hard))
    return "raised a hard limit"


def exercise():
    return in_child(raise_again)


main(CAPABILITY, exercise)
