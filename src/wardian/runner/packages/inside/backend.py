"""Print what a source archive says about its build: its pyproject.toml, and nothing if it has none.

``backend.py ARCHIVE``. Where this runs there is no network and no password.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile

LIMIT = 1 << 20
NAME = "pyproject.toml"


def main(path: str) -> None:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.count("/") == 1 and n.endswith("/" + NAME)]
            text = archive.open(names[0]).read(LIMIT) if names else b""
    else:
        text = b""
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name[2:] if member.name.startswith("./") else member.name
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None and name.count("/") == 1 and name.endswith("/" + NAME):
                    text = file.read(LIMIT)
                    break
    sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
