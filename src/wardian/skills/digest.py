"""A skill's identity: one digest over its files, the same for a directory and for its archive."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from wardian.descriptors import FILE
from wardian.errors import SkillError
from wardian.skills.reading import FolderEntry, walk

# Left out at the top only, of packages and of the digest: test cases for the author.
AUTHORS_OWN = ("evals/",)
MAX_BYTES = 1 << 30
_CHUNK = 1 << 20


def skill_digest(folder: Path) -> str:
    """``sha256:…`` over names, kinds, contents and the right to be executed; not over times.

    What tools leave behind (caches, version control, installed packages) does not count, as it is
    not packed either. Raises SkillError if there is too much of it, or a file can't be read.
    """
    listing = walk(folder)
    if not listing.complete:
        raise SkillError("too many files, or folders that can't be read", path=str(folder))
    entries = [one for one in listing.entries if not one.path.startswith(AUTHORS_OWN)]
    if sum(entry.size for entry in entries) > MAX_BYTES:
        raise SkillError(f"more than {MAX_BYTES >> 20} MiB", path=str(folder))
    whole = hashlib.sha256()
    for entry in sorted(entries, key=lambda one: os.fsencode(one.path)):
        try:
            content = _content(folder / entry.path, entry)
        except OSError as error:
            why = (error.strerror or "it can't be read").lower()
            raise SkillError(why, path=str(folder / entry.path)) from None
        kind = "program" if entry.kind == "file" and entry.executable else entry.kind
        for part in (kind.encode(), os.fsencode(entry.path), content):
            whole.update(len(part).to_bytes(8, "little") + part)
    return f"sha256:{whole.hexdigest()}"


def _content(path: Path, entry: FolderEntry) -> bytes:
    if entry.kind == "link":
        return os.fsencode(os.readlink(path))
    if entry.kind != "file":
        return b""
    # What was a file a moment ago may be a link by now, or a pipe without a writer.
    with open(os.open(path, FILE), "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not a regular file", os.fspath(path))
        found, size = hashlib.sha256(), 0
        while chunk := file.read(_CHUNK):
            found.update(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise OSError(0, f"it has more than {MAX_BYTES >> 20} MiB", os.fspath(path))
    return found.digest()
