"""Print what a source archive says about its build: its pyproject.toml, and nothing if it has none.

``backend.py ARCHIVE``. Where this runs there is no network and no password.
"""

import sys
import tarfile
import zipfile

LIMIT = 1 << 20
NAME = "pyproject.toml"


def main(path):
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.count("/") == 1 and n.endswith("/" + NAME)]
            text = archive.open(names[0]).read(LIMIT) if names else b""
    else:
        text = b""
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.removeprefix("./").count("/") == 1:
                    if member.name.endswith("/" + NAME):
                        text = archive.extractfile(member).read(LIMIT)
                        break
    sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
