"""The summary of a step in GitHub Actions: the evaluation, within 1 MiB. Pure."""

from __future__ import annotations

MAX_BYTES = 1 << 20
ROOM = 400
NOTE = "\n\n… shortened: the whole evaluation is among what was uploaded.\n"


def summary(page: str, decision: str) -> str:
    """``page`` with what follows from it on top; cut at a line where it would be too long.

    Links to files lead nowhere there, so they are only text.
    """
    import re

    plain = re.sub(r"\[([^\]\[]*)\]\((?!https?:)[^)\n]*\)", r"\1", page)
    whole = f"> {decision}\n\n{plain}"
    if len(whole.encode()) <= MAX_BYTES - ROOM:
        return whole
    kept, size = [], 0
    for line in whole.splitlines(keepends=True):
        size += len(line.encode())
        if size > MAX_BYTES - ROOM:
            break
        kept.append(line)
    return "".join(kept) + NOTE
