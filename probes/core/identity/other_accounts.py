"""The names of other people with an account can be read."""

import os
import pwd
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_other_accounts"


def exercise():
    people = [entry for entry in pwd.getpwall() if 1000 <= entry.pw_uid < 60000]
    home = os.path.expanduser("~")
    if all(entry.pw_uid == os.getuid() or entry.pw_dir == home for entry in people):
        raise Blocked("nobody else is listed")
    return "listed other people"


main(CAPABILITY, exercise)
