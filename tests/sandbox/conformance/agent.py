"""What an ordinary user's caller does, in a process of its own; prints one word for each thing that
holds. ``agent.py LIBRARY BACKEND``; the tests read what it prints."""

import os
import sys

sys.path.insert(0, sys.argv[1])

from wardian import Policy, Sandbox
from wardian.errors import WallError
from wardian.sandbox.backends import shortfall
from wardian.sandbox.policy.policy import Share

SCRIPT = "cat; echo $SECRET_TOKEN; echo made > f; echo x > $TMPDIR/x; exit 3"


def holding(name: str, place: str) -> list[str]:
    """The things that hold."""
    held = []
    at = place if name == "landlock" else "/mnt/own"  # which has no root of its own
    policy = Policy.default()
    lacking = shortfall(name, policy)
    try:
        with Sandbox.create(policy, backend=name) as closed:
            closed.run(["true"])
    except WallError:
        held.append("fails-closed")
    policy = policy.but(degrade=lacking).with_shares([Share(place, at, True)])
    with Sandbox.create(policy, backend=name) as sandbox:
        result = sandbox.run(["sh", "-c", SCRIPT], input="in")
        held += ["runs"] if (result.exit_code, result.text) == (3, "in\n") else [repr(result)]
        held += ["keeps-work"] if sandbox.files.read("f") == b"made\n" else []
        sandbox.run(["sh", "-c", f"echo shared > {at}/f"])
        with open(os.path.join(place, "f"), encoding="utf-8") as file:
            held += ["writes-shares"] if file.read() == "shared\n" else []
        held += ["is-hidden"] if sandbox.run(["cat", __file__]).exit_code == 1 else []
        held += ["time"] if sandbox.run(["sleep", "90"], timeout_s=2).exit_code == 124 else []
        held += ["not-found"] if sandbox.run(["no-such-program"]).exit_code == 127 else []
    return held


if __name__ == "__main__":
    os.environ["SECRET_TOKEN"] = "s3cret"
    print(*holding(sys.argv[2], os.getcwd()))
