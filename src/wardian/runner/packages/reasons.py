"""Why a package tool failed, read from what it printed: text of a tool, and of the index that it
asked, so only data. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from wardian.skills.imports import known_distribution, normalized
from wardian.text import cut, printable

SHOWN_LINES = 12
MAX_LINE = 400
_NAME = r"[A-Za-z0-9@][\w.@/*^~<>=!,\[\]-]{0,120}?"
_UNREACHED = re.compile(
    r"name resolution|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|dns error|connection refused"
    r"|Network is unreachable|client error \(Connect\)",
    re.I,
)
# In the words of npm, npm, uv and uv.
_NOWHERE = re.compile(
    rf"'({_NAME})'(?: could not be found|\s+is not in)|Because ({_NAME}) was not found in the pack"
)
_NO_VERSION = re.compile(
    rf"No matching version found for ({_NAME})\.?(?:\s|$)|there is no version of ({_NAME}) and"
)
_PIP = re.compile(
    rf"satisfies the requirement ({_NAME})(?: \(from [^)]*\))? \(from versions: (.*)\)"
)
_PYTHON = re.compile(
    r"does not satisfy Python\s*([<>=!~]=?[\d.*]+)"
    r"|different python version:.*Requires-Python ([<>=!~]=?[\d.*]+)"
)
_TAGS = re.compile(
    r"You require CPython ([\d.]+) [\s\S]{0,300}?Python implementation tags?: `cp3(\d+)`"
)
_BUILDS = re.compile(r"no usable wheels|has no wheels|building source|--no-build", re.I)
_USAGE = re.compile(r"(Clean install a project|Install a package|Usage:)$")
_NOISE = re.compile(
    r"(npm (error|ERR!)( code E\w+| 404)?|npm warn.*|WARNING: Location .* is ignored.*|\[notice\].*"
    r"|.*(Log files were not written|A complete log of this run|Note that you can also install"
    r"|tarball, folder, http url).*)?\s*"
)


class Reason(NamedTuple):
    """``what`` is a clause, empty if the text has none that is known; ``cure`` is a hint, or empty.
    ``unclear`` is the package that pip found no wheel of, where there may be a source."""

    what: str = ""
    cure: str = ""
    unclear: str = ""


def reason_of(printed: str) -> Reason:
    """What is known to stand behind a failure."""
    if _UNREACHED.search(printed):
        return Reason("the package index can't be reached")
    python = _PYTHON.search(printed)
    if python is not None:
        wish = python[1] or python[2]
        lowest = re.sub(r"[^\d.]", "", wish).rstrip(".")
        return Reason(f"it needs Python {wish}", f"use another Python: --python {lowest}")
    tags = _TAGS.search(printed)
    if tags is not None:
        return Reason(
            f"there is no wheel for Python {tags[1]}", f"use another Python: --python 3.{tags[2]}"
        )
    nowhere = _NOWHERE.search(printed)
    if nowhere is not None:
        return absent(nowhere[1] or nowhere[2])
    version = _NO_VERSION.search(printed)
    if version is not None:
        return Reason(f"there is no {printable(version[1] or version[2])}")
    pip = _PIP.search(printed)
    if pip is not None and pip[2] != "none":
        newest = printable(pip[2].rpartition(", ")[2])
        return Reason(f"there is no {printable(pip[1])}; the newest for this Python is {newest}")
    if pip is not None:
        return Reason(unclear=re.split(r"[^\w.-]", pip[1])[0])
    return Reason()


def absent(word: str) -> Reason:
    """The reason for a package that no index has."""
    name = printable(re.sub(r"(?<=.)@.*", "", word))
    published = known_distribution(name)
    if published is not None and normalized(published) != normalized(name):
        return Reason(
            f"no index has {name}", f"the module {name} is in {published}: --with {published}"
        )
    return Reason(
        f"no index has {name}", "check the name: a package's name can differ from its module's"
    )


def must_be_built(printed: str) -> bool:
    """Does uv say that there is a source, and no wheel?"""
    return _BUILDS.search(printed) is not None


def not_cached(printed: str) -> bool:
    """Does a tool that may not ask an index say that it would have to? In the words of npm, pip and
    uv."""
    return bool(re.search("only-if-cached|from versions: none|network was disabled", printed))


def shown_lines(tool: str, printed: str) -> list[str]:
    """Of what a tool printed, the lines that give its reason: neither its usage nor its notes."""
    kept: list[str] = []
    for line in printed.splitlines():
        text = re.sub(r"^npm (error|ERR!) ?", "", line) if tool == "npm" else line
        if tool == "npm" and _USAGE.match(text.strip()):
            break
        if text.strip() and not _NOISE.fullmatch(line):
            kept.append(cut(printable(text), MAX_LINE))
    # npm begins with its reason, the others end with it.
    return kept[:SHOWN_LINES] if tool == "npm" else kept[-SHOWN_LINES:]
