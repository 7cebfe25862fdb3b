"""Commands that the documentation quotes with their output: ```` ```console run ```` blocks.

A block holds lines that begin with `$ `, each followed by what it prints on a terminal. `...` on a
line of its own stands for any lines, within a line for any characters.

`python -m tools.quotes` runs all of them and rewrites those whose output changed. A block with
`...` is not rewritten: what it leaves out is a person's choice, so its output is printed instead.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.terminal import shown

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console run\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Quote:
    """One command and the output that the page shows for it."""

    command: str
    output: str


def pages() -> list[Path]:
    """Every page of the documentation, README first."""
    top = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
    return [*(page for page in top if page.exists()), *sorted((ROOT / "docs").rglob("*.md"))]


def quotes(block: str) -> list[Quote]:
    """The commands of a block, in order. A command may go on after a backslash. Pure."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a block begins with its first command: {parts[0]!r}")
    found = []
    for part in parts[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command = f"{command}\n{more}"
        found.append(Quote(command, output))
    return found


def matches(quoted: str, real: str) -> bool:
    """Is this what the page shows? Pure."""
    pattern = re.escape(quoted.strip("\n"))
    lines = r"(?:.*\n)*?"
    pattern = re.sub(
        rf"^{re.escape(re.escape('...'))}(?:\\\n|$)", lambda _: lines, pattern, flags=re.M
    )
    pattern = pattern.replace(re.escape("..."), ".*")
    return re.fullmatch(rf"{pattern}\n*", real.strip("\n") + "\n") is not None


def prepare(here: Path) -> None:
    """Make the directory look as a clone of the repository does, as far as pages use it."""
    for name in ("skills", "examples"):
        shutil.copytree(ROOT / name, here / name, ignore=shutil.ignore_patterns("__pycache__"))


def main() -> int:
    """Rewrite the blocks whose output changed; 1 if one needs a person."""
    left = 0
    for page in pages():
        text = page.read_text()
        for block in BLOCK.findall(text):
            with tempfile.TemporaryDirectory(prefix="wardian-quotes-") as name:
                prepare(Path(name))
                found = [(quote, shown(quote.command, Path(name))) for quote in quotes(block)]
            if all(matches(quote.output, real) for quote, real in found):
                continue
            new = "".join(f"$ {quote.command}\n{real.strip()}\n" for quote, real in found)
            if "..." in block:
                left += 1
                print(f"{page.relative_to(ROOT)}: please shorten this by hand:\n{new}")
                continue
            text = text.replace(block, new)
            print(f"{page.relative_to(ROOT)}: rewritten")
        page.write_text(text)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
