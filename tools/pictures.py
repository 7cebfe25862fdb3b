"""Draws pictures of a terminal for the README, from what the commands really print.

`make pictures` runs this; each picture is one SVG file in docs/images, made of text, so that it
stays sharp and can be searched.
"""

from __future__ import annotations

import html
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.quotes import ROOT, prepare
from tools.terminal import shown

CELL_W, CELL_H, MARGIN, BAR = 7.8, 19, 18, 34
INK, PAPER, FRAME = "#24292f", "#ffffff", "#d0d7de"
STYLES = (  # the first that matches colours the matching part of a line
    (re.compile(r"^\$ .*"), 'font-weight="600"'),
    (re.compile(r"allow: .*"), 'fill="#116329"'),
    (re.compile(r"\b(?:refused|blocked)\b"), 'fill="#b42318"'),
    (re.compile(r"^ *…$"), 'fill="#6e7781"'),
)


@dataclass(frozen=True)
class Picture:
    """What to run and what to leave out: lines from the first pattern on, up to the second.
    Lines that match `steady` are the same for every user on every host."""

    name: str
    title: str
    command: str
    steady: str
    cuts: tuple[tuple[str, str], ...] = ()


PICTURES = (
    Picture(
        "nosy-helper",
        "A skill that pries, and what wardian blocked",
        "wardian run skills/nosy-helper tidy.py --work examples -v -- data.json",
        steady=r"nosy: (?!refused   (?:read|write))|network|.*allow: --net",
        cuts=(
            (r"nosy: refused   read ~/\.aws", r"nosy: refused   (?!read [~/])"),
            (r"wardian: backend |walls$", r"wardian: (?!backend )"),
        ),
    ),
)


def cut(lines: list[str], start: str, end: str) -> list[str]:
    """The lines without those from `start` up to `end`, for which one … stands. Pure."""
    first = next((i for i, line in enumerate(lines) if re.match(start, line)), None)
    if first is None:
        return lines
    last = next((i for i in range(first + 1, len(lines)) if re.match(end, lines[i])), None)
    return lines if last is None else [*lines[:first], "…", *lines[last:]]


def drawn(title: str, lines: list[str]) -> str:
    """The lines as an SVG document. Pure."""
    width = round(max(map(len, lines)) * CELL_W + 2 * MARGIN)
    height = BAR + len(lines) * CELL_H + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">',
        f"<title>{html.escape(title)}</title>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{PAPER}" stroke="{FRAME}"/>',
        *(f'<circle cx="{18 + 16 * i}" cy="17" r="5" fill="{FRAME}"/>' for i in range(3)),
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, '
        f'monospace" font-size="13" fill="{INK}" xml:space="preserve">',
        *(_line(i, line) for i, line in enumerate(lines) if line),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(number: int, line: str) -> str:
    """One line; its length is fixed, so that columns align in whatever font the viewer has."""
    y = BAR + number * CELL_H + 13
    text = line.lstrip(" ")
    x = MARGIN + (len(line) - len(text)) * CELL_W
    content = _safe(text)
    for pattern, style in STYLES:
        if found := pattern.search(text):
            before, after = _safe(text[: found.start()]), _safe(text[found.end() :])
            content = f"{before}<tspan {style}>{_safe(found[0])}</tspan>{after}"
            break
    return f'<text x="{x:g}" y="{y}" textLength="{len(text) * CELL_W:g}">{content}</text>'


def _safe(text: str) -> str:
    """Escaped, with spaces that SVG does not join."""
    return html.escape(text.replace(" ", "\u00a0"))


def main() -> int:
    """Run every command and write its picture."""
    for picture in PICTURES:
        with tempfile.TemporaryDirectory(prefix="wardian-pictures-") as name:
            prepare(Path(name))
            lines = shown(picture.command, Path(name)).strip("\n").split("\n")
        for start, end in picture.cuts:
            lines = cut(lines, start, end)
        target = ROOT / "docs" / "images" / f"{picture.name}.svg"
        target.write_text(drawn(picture.title, [f"$ {picture.command}", *lines]))
        print(target.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
