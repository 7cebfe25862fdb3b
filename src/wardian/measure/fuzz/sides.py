"""The two targets of the fuzzer: the host's own kernel, and the sandbox under test."""

from __future__ import annotations

import os
from collections.abc import Sequence

from wardian.errors import BackendError
from wardian.measure.fuzz.program import CallSequence
from wardian.measure.fuzz.wire import Behaviour, GarbledError, decode, encode
from wardian.measure.probes.building import BuildError, compiled, compiler
from wardian.measure.target import HOST, Target, target
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.sandbox import Sandbox

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("executor.c", "oracle.c", "scratch.c")
HEADER = "executor.h"
FLAGS = ("-std=c17", "-Wall", "-Wextra", "-O1", "-no-pie")
NAME = ".executor"
ROOT_IS_NOBODY = ("gvisor",)  # users of its own kernel, who are not the host's
TIMEOUT_MS = 100
PATIENT_MS = 1500
BATCH_S = 300.0
MAX_RESTARTS = 20


def executor() -> str:
    """The executor, compiled now if its source is new. Raises BuildError."""
    cc = compiler()
    if cc is None:
        raise BuildError(
            "no C compiler is installed",
            hint="the fuzzer compiles a small program first; install gcc or clang",
        )
    files = {}
    for name in (*SOURCES, HEADER):
        with open(os.path.join(HERE, name), "rb") as file:
            files[name] = file.read()
    return compiled(cc, (*FLAGS, *SOURCES), files)


class Side:
    """Runs batches of programs in one place, through the door that everything uses."""

    def __init__(self, sandbox: Sandbox, argv: tuple[str, ...], arch: str, name: str) -> None:
        self._sandbox, self._argv, self._arch, self.name = sandbox, argv, arch, name

    def run(
        self, programs: Sequence[CallSequence], timeout_ms: int = TIMEOUT_MS
    ) -> list[Behaviour | None]:
        """What became of each; None for a program that ended the executor itself.

        Raises BackendError if the executor can't work there at all, or its answers are garbled.
        """
        outcomes: list[Behaviour | None] = []
        for _ in range(MAX_RESTARTS):
            rest = programs[len(outcomes) :]
            if not rest:
                return outcomes
            found, why = self._batch(rest, timeout_ms)
            outcomes += found
            if len(found) == len(rest):
                return outcomes
            if not outcomes:
                raise BackendError(f"programs can't be run in {self.name}: {why}")
            outcomes.append(None)
        return outcomes + [None] * (len(programs) - len(outcomes))

    def _batch(
        self, programs: Sequence[CallSequence], timeout_ms: int
    ) -> tuple[list[Behaviour], str]:
        data = encode(programs, timeout_ms, self._arch)
        result = self._sandbox.run(self._argv, input=data, timeout_s=BATCH_S)
        try:
            outcomes, _ = decode(result.stdout, programs)
        except GarbledError as error:
            raise BackendError(
                f"the executor's answers from {self.name} are garbled: {error}"
            ) from None
        said = result.stderr.decode("utf-8", "replace").strip()[-300:]
        return outcomes, said or f"it ended with {result.exit_code} ({result.reason})"

    def close(self) -> None:
        """The sandbox goes."""
        self._sandbox.close()


def oracle(program: str, arch: str) -> Side:
    """The host's own kernel; the executor takes itself to where nothing can be harmed."""
    return Side(target(HOST).sandbox(), (program, "--oracle"), arch, "the host")


def examined(where: Target, program: str, arch: str) -> Side:
    """The sandbox, with the executor in its work directory. Raises SandboxError."""
    if where.is_host:
        return oracle(program, arch)
    sandbox = where.sandbox()
    try:
        with open(program, "rb") as file:
            sandbox.files.write(NAME, file.read(), executable=True)
    except BaseException:
        sandbox.close()
        raise
    how = "--inside-as-root" if where.name in ROOT_IS_NOBODY else "--inside"
    return Side(sandbox, (f"{WORK}/{NAME}", how), arch, where.name)
