"""A difference as a specimen: the next number, in C, runnable by hand, written once.

``probes/fuzz/<domain>/<domain>_<call>_as_native/NNNN_short_words.c``. Its first comment has the
difference's signature, by which it is found again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from wardian.errors import UsageError
from wardian.measure.fuzz.compare import END, FILES, MEMORY, Divergence
from wardian.measure.fuzz.program import (
    ARENA_BYTES,
    AT,
    RESULT,
    SELF,
    WORD,
    Arg,
    CallSequence,
    text,
)
from wardian.measure.fuzz.wire import Behaviour
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.syscalls.table import lookup

# The table's groups, as the domains that specimens are sorted into.
DOMAINS = {
    "files": "filesystem", "metadata": "filesystem", "directories": "filesystem",
    "descriptors": "filesystem", "events": "process", "process": "process", "signals": "process",
    "threads": "process", "tracing": "process", "network": "network", "ipc": "ipc", "time": "time",
    "memory": "memory", "identity": "identity", "scheduling": "resources", "limits": "resources",
}  # fmt: skip
_SIGNATURE = re.compile(r"^ \* signature: (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"(\d{4})_.+\.c")
MAX_SHOWN = 60


class FuzzFinding(NamedTuple):
    """A difference that is real, and the smallest program that shows it."""

    difference: Divergence
    program: CallSequence
    host: Behaviour
    sandbox: Behaviour
    place: str  # the sandbox
    origin: str  # from which seed and program it came


def check_place(root: str) -> None:
    """Raises UsageError if nothing can be written there."""
    above = os.path.abspath(root)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above) or not os.access(above, os.W_OK):
        raise UsageError(
            f"specimens can't be written to {root}", hint="--out DIR names another place"
        )


def known_signatures(*roots: str) -> dict[str, str]:
    """Signatures of the specimens there, with their paths."""
    found: dict[str, str] = {}
    for root in roots:
        for path in _sources(os.path.join(root, "fuzz")):
            with open(path, encoding="utf-8", errors="replace") as file:
                for signature in _SIGNATURE.findall(file.read(1 << 16)):
                    found.setdefault(signature, os.path.relpath(path, root))
    return found


def _sources(place: str) -> Iterator[str]:
    for folder, below, names in os.walk(place):
        below.sort()
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".c"))


def write(root: str, finding: FuzzFinding, arch: str) -> str:
    """Write it under the next number; returns the path below ``root``. Raises OSError."""
    capability, domain = capability_of(finding.difference, finding.program)
    folder = os.path.join(root, "fuzz", domain, capability)
    folder = trusted_path(folder, "--out")
    os.close(open_directory(folder, make=0o777))
    temporary = os.path.join(folder, f".{os.urandom(8).hex()}.tmp")
    with open(temporary, "x", encoding="utf-8") as file:  # never through a link
        file.write(source(finding, arch))
    try:
        while True:
            taken = [
                int(found[1]) for name in os.listdir(folder) if (found := _NUMBERED.match(name))
            ]
            number = max(taken, default=0) + 1
            path = os.path.join(folder, f"{number:04}_{_words(finding.difference)}.c")
            try:
                os.link(temporary, path)  # never over another
            except FileExistsError:
                continue
            return os.path.relpath(path, os.path.realpath(root))
    finally:
        os.unlink(temporary)


def capability_of(difference: Divergence, program: CallSequence) -> tuple[str, str]:
    """The capability and the domain that a difference belongs to."""
    name = difference.name if difference.call >= 0 else program.calls[-1].name
    domain = DOMAINS.get(lookup(name).group, "kernel")
    return f"{domain}_{name.strip('_')}_as_native", domain


def _words(difference: Divergence) -> str:
    parts = [difference.command, difference.aspect, difference.host, "not", difference.sandbox]
    slug = re.sub(r"[^a-z0-9]+", "_", " ".join(parts).lower()).strip("_")
    return slug[:40].strip("_") or "differs"


def source(finding: FuzzFinding, arch: str) -> str:
    """The specimen's text."""
    difference, program = finding.difference, finding.program
    capability, _ = capability_of(difference, program)
    listing = "\n".join(f" *   {line}" for line in text(program, arch)).replace("*/", "*\\/")
    body = "\n".join(f"    {line}" for line in _body(finding))
    ended = finding.host.ended
    return (
        f"/* {_summary(finding)}\n"
        f" * signature: {difference.signature}\n"
        f" * found by: wardian probe fuzz --in {finding.place}, {finding.origin}\n"
        f"{listing}\n */\n"
        f'#define CAPABILITY "{capability}"\n#include "_runner_c.h"\n#include "_runner_fuzz.h"\n\n'
        f"static void calls(void) {{\n{body}\n}}\n\n"
        f"static void exercise(void) {{ fuzz_run(calls, {ended}); }}\n\nPROBE(exercise)\n"
    )


def _summary(finding: FuzzFinding) -> str:
    one = finding.difference
    name = f"{one.name}({one.command})" if one.command else one.name
    if one.aspect == MEMORY:
        return f"{name} writes the same as natively."
    if one.aspect == END:
        return f"A program ends with {name} as it does natively."
    if one.aspect == FILES:
        return f"{name} leaves the same files as natively."
    return f"{name} answers as natively ({one.host})."


def _body(finding: FuzzFinding) -> Iterator[str]:
    program, difference = finding.program, finding.difference
    for at, data in program.image:
        content = data.rstrip(b"\0")
        if content:
            yield f"fuzz_put({at:#x}, {_literal(content)}, {len(content)});"
    if any(arg.kind == AT and arg.value >= ARENA_BYTES - 4096
           for call in program.calls for arg in call.args):  # fmt: skip
        yield "mprotect((void *)AT(7 * FUZZ_PAGE), FUZZ_PAGE, PROT_READ);"
    used = {arg.value for call in program.calls for arg in call.args if arg.kind == RESULT}
    last = len(program.calls) - 1
    for index, call in enumerate(program.calls):
        args = ", ".join(_argument(arg) for arg in call.args) or "0"
        args += ", 0" * (6 - max(1, len(call.args)))
        made = f"fuzz_call(SYS_{call.name}, {args})"
        kept = index in used or (difference.call == index and difference.aspect == "result")
        yield f"long r{index} = {made};" if kept else f"{made};"
        if index == difference.call or (index == last and difference.call < 0):
            yield from _check(finding, index)


def _check(finding: FuzzFinding, index: int) -> Iterator[str]:
    one = finding.difference
    if one.aspect == MEMORY:
        from wardian.measure.fuzz.compare import apply

        memory = finding.program.arena()
        for answer in finding.host.answers[: index + 1]:
            apply(memory, answer)
        for at in _differing(finding, index):
            yield f'fuzz_memory("{one.name}", {at:#x}, {_literal(bytes(memory[at : at + 4]))}, 4);'
    elif one.aspect == FILES:
        yield from _file_checks(finding)
    elif one.aspect != END:
        native = finding.host.answers[index].result if index < len(finding.host.answers) else 0
        if one.host == "ok":
            yield f'fuzz_well("{one.name}", r{index});'
        else:
            value = f"-{one.host}" if native < 0 else str(native)
            yield f'fuzz_same("{one.name}", r{index}, {value});'


def _differing(finding: FuzzFinding, index: int) -> list[int]:
    """Where the first difference in memory is."""
    found = re.search(r"argument (\d+) \+ (\d+)", finding.difference.sandbox)
    if found is None:
        return []
    arg = finding.program.calls[index].args[int(found[1])]
    return [arg.value + int(found[2])]


def _file_checks(finding: FuzzFinding) -> Iterator[str]:
    mine = (finding.host.files or "").splitlines()
    theirs = (finding.sandbox.files or "").splitlines()
    for line in mine:
        if line not in theirs:
            mode, size, _, _, path = line.split(" ")[:5]
            yield f'fuzz_file("../{path}", 0{mode}, {size});'
    natively = {line.split(" ")[4] for line in mine}
    for line in theirs:
        path = line.split(" ")[4]
        if mine and path not in natively:
            yield f'fuzz_file("../{path}", 0, 0);'


def _argument(arg: Arg) -> str:
    if arg.kind == AT:
        return f"AT({arg.value:#x})"
    if arg.kind == RESULT:
        return f"r{arg.value}"
    if arg.kind == WORD:
        return f"WORD_AT({arg.value:#x})"
    if arg.kind == SELF:
        return "getpid()"
    value = arg.value & ((1 << 64) - 1)
    if value >> 63:
        value -= 1 << 64
    if value == -(1 << 63):
        return "LONG_MIN"
    return (
        str(value)
        if -(1 << 31) <= value < 1 << 16
        else f"{'-' if value < 0 else ''}{abs(value):#x}L"
    )


def _literal(data: bytes) -> str:
    """A C string; an escape never runs into a digit after it, for it always has three."""
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in data) + '"'
