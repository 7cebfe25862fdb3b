"""A new skill: the smallest one that has all parts, and that its author changes piece by piece."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from wardian.errors import UsageError

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NAME = 64

_MANIFEST = """\
---
name: {name}
description: >-
  Count lines, words and characters of a text file. Use when someone asks how long a text is.
  (Replace this by what your skill does, and when to use it.)
---

# {title}

Run the script on the file:

```bash
python3 scripts/main.py notes.txt
```

It prints one line: lines, words and characters. Nothing but Python's standard library is needed.
What the script reads and writes stands in [SECURITY.md](SECURITY.md).
"""

_SCRIPT = '''\
#!/usr/bin/env python3
"""Count lines, words and characters of a text file."""

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    try:
        with open(parser.parse_args().file, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{len(text.splitlines())} lines, {len(text.split())} words, {len(text)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

_CASES = """\
[[case]]
name = "counts a text"
script = "main.py"
args = ["notes.txt"]
[case.files]
"notes.txt" = "one two\\nthree\\n"
[case.expect]
stdout = "2 lines, 3 words, 14 characters\\n"

[[case]]
name = "reports a file that is not there"
script = "main.py"
args = ["missing.txt"]
[case.expect]
exit = 1
"""

_SECURITY = """\
# Security

What this skill needs, so that whoever runs it can grant that and no more:

- Files: reads the file it is given. Writes nothing.
- Network: none.
- Packages: none.
- Secrets: none.

Keep this list true. `wardian trace` shows what a run really does, `wardian learn` the smallest
policy under which the cases pass.
"""


def make_skill(name: str, directory: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder and its files, there whole or not at all. Raises UsageError."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise UsageError(
            f"{name!r} is not a valid name for a skill",
            hint="lower-case letters, digits and single hyphens, at most 64, such as csv-report",
        )
    folder = directory / name
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists already", hint="choose another name")
    title = name.replace("-", " ").capitalize()
    files = {
        "SKILL.md": _MANIFEST.format(name=name, title=title),
        "SECURITY.md": _SECURITY,
        "cases.toml": _CASES,
        "scripts/main.py": _SCRIPT,
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=directory))
        try:
            for path, text in files.items():
                (place / path).parent.mkdir(exist_ok=True)
                (place / path).write_text(text, encoding="utf-8")
            (place / "scripts" / "main.py").chmod(0o755)
            place.chmod(0o755)
            folder.mkdir()  # claims the name
            place.rename(folder)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
    except OSError as error:
        raise UsageError(f"{folder} can't be created: {(error.strerror or '').lower()}") from None
    return folder, tuple(files)
