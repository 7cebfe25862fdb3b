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
# What stands before a path that is an example, is made by the reader, or belongs elsewhere.
_NOT_ITS_OWN = re.compile(
    r"\b(?:examples?|e\.g\.|such as|like|creat\w*|writ\w*|sav\w*|generat\w*|add\w*|projects?"
    r"|repo(?:sitory)?)(?![\w/-])|skill's|>\s*$|(?:\s-o|--out\w*)[ =]$",
    re.IGNORECASE,
)
_PATHS = re.compile(r"\S*/\S*")
_SHELLS = ("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal")
_COMMAND = re.compile(r"\s*(?:[$>]\s+)?(?:python[\d.]*|node|bash|sh|npx|uv run|\./)(?:\s|\w)")
_ELSEWHERE = re.compile(r"\s*(?:\$\s+)?cd\s+(?![\"']?\$\{?(?:CLAUDE_)?SKILL)(?!\.\s)\S")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def references_in(body: str) -> Iterator[Reference]:
    """Every reference to a file of the skill. Links inside code are not links; paths in code count
    in command lines alone, and nowhere where they are an example or another folder's."""
    fence: _Fence | None = None
    for number, line in enumerate(body.split("\n"), 1):
        marker = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if marker is not None and (fence is None or marker[1].startswith(fence.marker)):
            fence = None if fence is not None else _Fence(marker[1], line[marker.end() :])
            continue
        if fence is not None and _ELSEWHERE.match(line):
            fence.elsewhere = True
        spans: list[tuple[int, int]] = []
        if "/" not in line and "](" not in line:
            continue
        if fence is None and "](" in line:
            for match in _LINK.finditer(_without_code(line)):
                spans.append(match.span())
                target = unquote(match[1].partition("#")[0].partition("?")[0])
                if target and is_local(target):
                    yield Reference(target, number, match.start() + 1, "link")
        if fence is not None and not fence.runs(line):
            continue
        for match in _MENTION.finditer(line):
            before = _PATHS.sub("", line[: match.start()])
            within = any(start <= match.start() < end for start, end in spans)
            if not within and not _NOT_ITS_OWN.search(before):
                yield Reference(match[1], number, match.start(1) + 1, "mention")


@dataclass(slots=True)
class _Fence:
    """A block of code; ``elsewhere`` once a line of it has gone to another directory."""

    marker: str
    language: str
    elsewhere: bool = False

    def runs(self, line: str) -> bool:
        """Whether a line of it is a command that starts in the skill's folder."""
        words = self.language.split()
        language = words[0].lower() if words else ""
        if self.elsewhere:
            return False
        return language in _SHELLS or (not language and _COMMAND.match(line) is not None)


def normal_target(target: str) -> str | None:
    """A path without dots; None if it leads out of the skill."""
    parts: list[str] = []
    for part in target.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def is_local(target: str) -> bool:
    """Whether a link's target is a path, and no address, placeholder or absolute path."""
    if _SCHEME.match(target) or target.startswith(("/", "#", "~", "//")):
        return False
    return not re.search(r"[{}$*<>|]|\.\.\.|^(?:url|link|path)$", target)


def _without_code(line: str) -> str:
    # Same length, so that columns stay true; linear, whatever the line holds.
    parts = line.split("`")
    return "`".join(" " * len(part) if index % 2 else part for index, part in enumerate(parts))
