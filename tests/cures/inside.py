"""Runs a command, applies the cure that it prints, and runs it again; in a user namespace of its
own with the same users, where the limits on namespaces are its to change.

    python inside.py max_mnt_namespaces=0 -- PROGRAM ARGS…

Prints one JSON document: what came of the first run, what was applied, what came of the second.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))
from breaking import mapped_user_namespace  # type: ignore[import-not-found]

CURE = re.compile(r"sudo (sysctl -w \S+=\d+(?: \S+=\d+)*)")


def run(command: list[str]) -> dict[str, object]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


if __name__ == "__main__":
    uid, gid = os.getuid(), os.getgid()
    everyone = ("0 0 4294967295", "0 0 4294967295")
    mapped_user_namespace(*(everyone if uid == 0 else (f"{uid} {uid} 1", f"{gid} {gid} 1")))
    split = sys.argv.index("--")
    for setting in sys.argv[1:split]:
        name, _, value = setting.partition("=")
        Path("/proc/sys/user", name).write_text(value)
    first = run(sys.argv[split + 1 :])
    cures = CURE.findall(f"{first['stdout']}{first['stderr']}")
    for name, value in re.findall(r"(\S+)=(\d+)", cures[0]) if cures else []:
        Path("/proc/sys", name.replace(".", "/")).write_text(value)  # as sysctl(8) does
    again = run(sys.argv[split + 1 :])
    print(json.dumps({"first": first, "cures": cures, "again": again}))
