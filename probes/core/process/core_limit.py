"""A crash can be made to leave its memory behind (RLIMIT_CORE)."""

import resource
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_core_limit"


def exercise():
    limit = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
    if limit != resource.RLIM_INFINITY and limit < 4096:
        raise Blocked("the limit on core files stays below a page", "EPERM")
    return "raised the limit on core files"


main(CAPABILITY, exercise)
