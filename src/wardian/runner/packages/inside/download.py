"""Fetch archives. Reads a plan as JSON from stdin, writes files called ``NUMBER-CHOICE``.

The plan: ``wanted``, a list of lists of files of which one serves, each with its
``url`` and whether it is ``there`` already; ``into``; ``logins`` as
``[origin, user, password]``; ``certificates``. Of several wheels the one that fits this Python best
is taken. What was fetched is hashed by whoever asked for it; ``NUMBER BYTES`` is printed when it
is there. Executes nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import simple  # type: ignore[import-not-found]


def main() -> int:
    plan = json.load(sys.stdin)
    opener = simple.opener(plan)
    tags = simple.ranks() if any(len(files) > 1 for files in plan["wanted"]) else {}

    def fetch(number: int) -> str | None:
        urls = [one["url"] for one in plan["wanted"][number]]
        choice = min(range(len(urls)), key=lambda k: simple.rank(simple.filename(urls[k]), tags))
        if len(urls) > 1 and simple.rank(simple.filename(urls[choice]), tags) == simple.UNFIT:
            return f"{simple.filename(urls[0])}: no usable wheels for this Python"
        place = os.path.join(plan["into"], f"{number}-{choice}")
        try:
            if plan["wanted"][number][choice]["there"]:
                open(place + ".there", "xb").close()
                return None
            with opener(urls[choice]) as source, open(place, "xb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            os.write(1, f"{number} {os.path.getsize(place)}\n".encode())
        except OSError as error:
            return f"{simple.filename(urls[choice])}: {error}"
        return None

    with ThreadPoolExecutor(6) as pool:
        failures = [one for one in pool.map(fetch, range(len(plan["wanted"]))) if one]
    print(*failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
