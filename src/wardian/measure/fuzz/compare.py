"""The first difference between two results of one program. PIDs, addresses and times match."""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

from wardian.measure.fuzz.program import AT, CallSequence, command_of
from wardian.measure.fuzz.rules import Rules
from wardian.measure.fuzz.wire import ENDED_BY_TIME, Behaviour, CallAnswer
from wardian.text import signal_name

RESULTS, MEMORY, END, FILES = "result", "memory", "end", "files"
_FORKS = ("fork", "clone", "clone3")


class Divergence(NamedTuple):
    """The first thing that differs. ``call`` is -1 where it is no call's."""

    call: int
    name: str
    command: str
    aspect: str
    host: str
    sandbox: str
    detail: str = ""

    @property
    def signature(self) -> str:
        """What makes two differences one and the same."""
        name = f"{self.name}({self.command})" if self.command else self.name
        return f"{name} {self.aspect}: {self.host} → {self.sandbox}"


def result_text(result: int) -> str:
    """``ok``, or the name of the errno."""
    return "ok" if result >= 0 else errno.errorcode.get(-result, str(result))


def shown(result: int) -> str:
    """The result itself, as strace writes it."""
    if result < 0:
        return f"-1 {result_text(result)}"
    return str(result) if result < 1 << 31 else hex(result)


def end_text(outcome: Behaviour) -> str:
    """How a program ended."""
    if outcome.ended == ENDED_BY_TIME:
        return "waits"
    if outcome.ended >= 0:
        return f"exit {outcome.ended}"
    return signal_name(-outcome.ended)


def difference(
    program: CallSequence, host: Behaviour, sandbox: Behaviour, rules: Rules, arch: str
) -> Divergence | None:
    """The first difference, None if there is none that means anything."""
    if host.observed == sandbox.observed:
        return None
    return _Comparison(program, host, sandbox, rules, arch).first()


class _Comparison:
    def __init__(
        self, program: CallSequence, host: Behaviour, sandbox: Behaviour, rules: Rules, arch: str
    ) -> None:
        self.program, self.rules, self.arch = program, rules, arch
        self.host, self.sandbox = host, sandbox
        # (the host's number, the sandbox's number) of one and the same thing
        self.same = {(host.pid, sandbox.pid), (host.parent, sandbox.parent)}

    def first(self) -> Divergence | None:
        memories: tuple[bytearray, bytearray] | None = None
        pairs = zip(self.host.answers, self.sandbox.answers, strict=False)
        for index, (one, other) in enumerate(pairs):
            name = self.program.calls[index].name
            if one.result != other.result and not self.results_match(name, one, other):
                host, sandbox = result_text(one.result), result_text(other.result)
                if host == sandbox:  # both went well, and gave different numbers
                    host, sandbox = shown(one.result), shown(other.result)
                return self.difference(index, RESULTS, host, sandbox)
            if name in _FORKS:
                self.same.add((one.result, other.result))
            if one.words != other.words:
                if memories is None:
                    memories = self.memories_before(index)
                place = self.memory(index, one, other, memories)
                if place is not None:
                    return place
            elif memories is not None:
                for memory, answer in zip(memories, (one, other), strict=True):
                    apply(memory, answer)
        return self.after()

    def after(self) -> Divergence | None:
        host, sandbox = self.host, self.sandbox
        if host.ended != sandbox.ended or len(host.answers) != len(sandbox.answers):
            done = min(len(host.answers), len(sandbox.answers))
            at = min(done, len(self.program.calls) - 1)
            return self.difference(at, END, end_text(host), end_text(sandbox))
        if host.files != sandbox.files:
            one, other = _files_apart(host.files, sandbox.files)
            return Divergence(-1, "+".join(sorted(set(self.program.names))), "", FILES, one, other)
        return None

    def difference(
        self, index: int, aspect: str, host: str, sandbox: str, detail: str = ""
    ) -> Divergence:
        call = self.program.calls[index]
        command = command_of(call, self.arch)
        return Divergence(index, call.name, command, aspect, host, sandbox, detail)

    def results_match(self, name: str, one: CallAnswer, other: CallAnswer) -> bool:
        if one.result < 0 or other.result < 0:
            return False
        return name in self.rules.opaque or (one.result, other.result) in self.same

    def memories_before(self, index: int) -> tuple[bytearray, bytearray]:
        """Both arenas before a call, before which they were alike."""
        made = self.program.arena()
        for answer in self.host.answers[:index]:
            apply(made, answer)
        other = self.program.arena()
        for answer in self.sandbox.answers[:index]:
            apply(other, answer)
        return made, other

    def memory(
        self, index: int, one: CallAnswer, other: CallAnswer, memories: tuple[bytearray, bytearray]
    ) -> Divergence | None:
        for memory, answer in zip(memories, (one, other), strict=True):
            apply(memory, answer)
        places = sorted(one.changes().keys() | other.changes().keys())
        for at in (8 * word + half for word in places for half in (0, 4)):
            mine = bytes(memories[0][at : at + 4])
            theirs = bytes(memories[1][at : at + 4])
            if mine == theirs or self.unmeasured(index, at) or self.matching(mine, theirs):
                continue
            argument = self.pointing(index, at)
            where = f"argument {argument[0]} + {argument[1]}" if argument else f"memory {at:#x}"
            return self.difference(
                index, MEMORY, "ok", f"differs at {where}", f"{mine.hex()} → {theirs.hex()}"
            )
        return None

    def matching(self, mine: bytes, theirs: bytes) -> bool:
        pair = struct.unpack("<i", mine)[0], struct.unpack("<i", theirs)[0]
        return pair in self.same

    def unmeasured(self, index: int, at: int) -> bool:
        call = self.program.calls[index]
        for place, arg in enumerate(call.args):
            if arg.kind == AT and at >= arg.value - 3:
                for first, end in self.rules.unmeasured.get((call.name, place), ()):
                    if arg.value + first - 3 <= at < arg.value + end:
                        return True
        return False

    def pointing(self, index: int, at: int) -> tuple[int, int] | None:
        """The argument that points there, and how far behind it."""
        found = [(arg.value, place) for place, arg in enumerate(self.program.calls[index].args)
                 if arg.kind == AT and arg.value <= at]  # fmt: skip
        if not found:
            return None
        start, place = max(found)
        return place, at - start


def apply(memory: bytearray, answer: CallAnswer) -> None:
    """What a call changed."""
    for word, value in answer.changes().items():
        memory[8 * word : 8 * word + 8] = struct.pack("<Q", value)


def _files_apart(host: str | None, sandbox: str | None) -> tuple[str, str]:
    """The first lines that differ; ``as before`` where nothing changed."""
    if host is None or sandbox is None:
        return "as before" if host is None else "changed", (
            "as before" if sandbox is None else "changed"
        )
    mine, theirs = host.splitlines(), sandbox.splitlines()
    one = next((line for line in mine if line not in theirs), "-")
    other = next((line for line in theirs if line not in mine), "-")
    return one, other
