"""The files that instructions point at: Markdown links, and paths named in text and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Reference:
    """A path as SKILL.md has it, without anchor; ``line`` counts from the body's first."""

    target: str
    line: int
    column: int
    kind: Literal["link", "mention"]


_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\]\(\s*<?([^()\s<>]{1,300})>?[^()\n]{0,100}\)")
_MENTION = re.compile(
    r"(?<![\w/.$~{}<>@%*:-])(?<!\]\()(?:\./)?"
    r"((?:scripts|references|assets)/[\w.-]+(?:/[\w.-]+)*\.[A-Za-z0-9]{1,5})(?![\w/*{<(-])"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def references_in(body: str) -> Iterator[Reference]:
    """Every reference to a file of the skill; links inside code are not links."""
    fence: str | None = None
    for number, line in enumerate(body.split("\n"), 1):
        marker = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if marker is not None and (fence is None or marker[1].startswith(fence)):
            fence = None if fence is not None else marker[1]
            continue
        spans: list[tuple[int, int]] = []
        if "/" not in line and "](" not in line:
            continue
        if fence is None and "](" in line:
            for match in _LINK.finditer(_without_code(line)):
                spans.append(match.span())
                target = unquote(match[1].partition("#")[0].partition("?")[0])
                if target and is_local(target):
                    yield Reference(target, number, match.start() + 1, "link")
        for match in _MENTION.finditer(line):
            if not any(start <= match.start() < end for start, end in spans):
                yield Reference(match[1], number, match.start(1) + 1, "mention")


def is_local(target: str) -> bool:
    """Whether a link's target is a path, and no address, placeholder or absolute path."""
    if _SCHEME.match(target) or target.startswith(("/", "#", "~", "//")):
        return False
    return not re.search(r"[{}$*<>|]|\.\.\.|^(?:url|link|path)$", target)


def _without_code(line: str) -> str:
    # Same length, so that columns stay true; linear, whatever the line holds.
    parts = line.split("`")
    return "`".join(" " * len(part) if index % 2 else part for index, part in enumerate(parts))
