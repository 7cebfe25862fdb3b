"""Print the bytecode of modules and of what they import, as ``unpack.py`` prints files.

Reads a plan as JSON from stdin: ``site``, a directory of packages; ``roots``, the modules to begin
with; ``seconds`` after which no further module is compiled. Sources are parsed, never executed.
Modules that were compiled before are followed, and not printed.
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
    pending: list[str] = list(plan["roots"])
    seen = set(pending)
    for name in pending:  # grows while it is gone through
        if time.monotonic() > end:
            break
        for found in compiled(plan["site"], name):
            parts = found.split(".")
            for depth in range(1, len(parts) + 1):
                one = ".".join(parts[:depth])
                if one not in seen:
                    seen.add(one)
                    pending.append(one)
    sys.stdout.buffer.flush()
    return 0


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
