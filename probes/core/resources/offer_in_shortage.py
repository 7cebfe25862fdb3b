"""A process can offer to be ended first when memory runs out (oom_score_adj), as browsers do."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "resources_offer_in_shortage"


def offer():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    return "offered itself, in a child"


def exercise():
    return in_child(offer)


main(CAPABILITY, exercise)
