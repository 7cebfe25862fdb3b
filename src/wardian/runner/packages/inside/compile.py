"""Print the bytecode of modules and of what they import, as ``unpack.py`` prints files.

Reads a plan as JSON from stdin: ``site``, a directory of packages; ``roots``, the modules to begin
with; ``seconds`` after which no further module is compiled. Without roots it is all modules but
tests. Sources are parsed, never executed. Modules that were compiled before are followed, and not
printed. Exit code: 0, or 3 if the time was not enough.
"""

from __future__ import annotations

import dis
import importlib.util
import json
import marshal
import os
import struct
import sys
import time
from types import CodeType
from typing import Any

HEADER = struct.Struct("<III")  # flags, time and size of the source
SOURCE_BYTES = 16 << 20


def main() -> int:
    plan = json.load(sys.stdin)
    end = time.monotonic() + plan["seconds"]
    emit({"entry_points": []})
    pending: list[str] = list(plan["roots"] or every(plan["site"]))
    seen = set(pending)
    for name in pending:  # grows while it is gone through
        if time.monotonic() > end:
            sys.stdout.buffer.flush()
            return 3
        for found in compiled(plan["site"], name):
            parts = found.split(".")
            for depth in range(1, len(parts) + 1):
                one = ".".join(parts[:depth])
                if one not in seen:
                    seen.add(one)
                    pending.append(one)
    sys.stdout.buffer.flush()
    return 0


def every(site: str) -> list[str]:
    """The modules that have no bytecode yet, but for tests of packages."""
    names = []
    for folder, below, files in os.walk(site):
        below[:] = [one for one in below if one not in ("__pycache__", "test", "tests")]
        for one in files:
            path = os.path.join(folder, one)
            if one.endswith(".py") and not os.path.exists(importlib.util.cache_from_source(path)):
                parts = os.path.relpath(path, site)[: -len(".py")].split("/")
                names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def emit(what: Any) -> None:
    sys.stdout.buffer.write(json.dumps(what).encode() + b"\n")


def compiled(site: str, name: str) -> list[str]:
    """Compile one module; the names that it imports as it is loaded."""
    base = os.path.join(site, *name.split("."))
    for path, package in ((f"{base}/__init__.py", name), (f"{base}.py", name.rpartition(".")[0])):
        try:
            with open(path, "rb") as file:
                about = os.fstat(file.fileno())
                source = file.read(SOURCE_BYTES)
            code = compile(source, path, "exec", dont_inherit=True)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        target = importlib.util.cache_from_source(path)
        if not os.path.exists(target):
            data = (
                importlib.util.MAGIC_NUMBER
                + HEADER.pack(0, int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
                + marshal.dumps(code)
            )  # PEP 552
            emit([os.path.relpath(target, site), 0, len(data)])
            sys.stdout.buffer.write(data)
        return imported(code, package)
    return []


def imported(code: CodeType, package: str) -> list[str]:
    """What the module's own statements import, not those of its functions."""
    found: list[str] = []
    last: list[Any] = []
    for one in dis.get_instructions(code):
        if one.opname == "IMPORT_NAME":
            level, names = last if len(last) == 2 else (0, None)
            found += absolute(str(one.argval), level, names, package)
        if one.opname.startswith("LOAD_"):
            last = [*last[-1:], one.argval]
    return found


def absolute(name: str, level: Any, names: Any, package: str) -> list[str]:
    if isinstance(level, int) and level > 0:
        above = package.split(".")[: len(package.split(".")) - level + 1]
        name = ".".join([*above, name] if name else above)
    inner = [f"{name}.{one}" for one in names if one != "*"] if isinstance(names, tuple) else []
    return [one for one in (name, *inner) if one]


if __name__ == "__main__":
    sys.exit(main())
