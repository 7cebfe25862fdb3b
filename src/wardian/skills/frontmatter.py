"""The frontmatter of a SKILL.md, cut from its body. Knows lines, and no YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wardian.skills.diagnostic import Diagnostic, UnreadableError, finding

MAX_FRONTMATTER_CHARACTERS = 256 * 1024

# A fence is a line of its own. Looking for "---" anywhere, as others do, ends the
# frontmatter inside a description that contains it.
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
# What YAML allows (tab, line feed) is left out; so is the rest of Unicode, which YAML judges.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Document:
    """A SKILL.md in its two parts, with the line of the file on which each begins."""

    yaml: str
    body: str
    body_line: int
    byte_order_mark: bool
    yaml_line: int = 2


def split(text: str, path: str) -> Document:
    """Cut ``text`` at its fences; line ends become ``\\n``.

    Raises UnreadableError when a fence is missing, the frontmatter is longer than
    MAX_FRONTMATTER_CHARACTERS, or a control character stands in it.
    """
    marked = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    opening = _FENCE.match(text)
    if opening is None:
        raise UnreadableError(_no_opening(text, path))
    start = min(opening.end() + 1, len(text))
    closing = _FENCE.search(text, start, start + MAX_FRONTMATTER_CHARACTERS)
    if closing is None:
        if len(text) - start > MAX_FRONTMATTER_CHARACTERS:
            limit = MAX_FRONTMATTER_CHARACTERS // 1024
            raise UnreadableError(
                finding("manifest-size", f"the frontmatter is longer than {limit} KiB", path, 1)
            )
        raise UnreadableError(
            finding(
                "open-frontmatter",
                "the frontmatter is not closed",
                path,
                1,
                hint="end it with a line that holds only ---",
            )
        )
    yaml = text[start : closing.start()]
    _refuse_control(yaml, path)
    body = text[closing.end() + 1 :]
    return Document(yaml, body, 3 + yaml.count("\n"), marked)


def _no_opening(text: str, path: str) -> Diagnostic:
    late = _FENCE.search(text[:4096])
    hint = "the first line must be ---, with nothing before or after it"
    if late is not None and not text[: late.start()].strip():
        hint = "remove the blank lines before the first ---"
    return finding("no-frontmatter", "there is no frontmatter", path, 1, 1, hint=hint)


def _refuse_control(yaml: str, path: str) -> None:
    found = _CONTROL.search(yaml)
    if found is not None:
        before = yaml[: found.start()]
        raise UnreadableError(
            finding(
                "control-character",
                f"control character U+{ord(found[0]):04X} in the frontmatter",
                path,
                2 + before.count("\n"),
                len(before) - before.rfind("\n"),
            )
        )
