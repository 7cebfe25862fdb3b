"""Results of programs stored in a directory, and which of them are still valid.

A result depends on the program, the target and how cases are run: together they are its key. Which
cases were wanted, and how long each might take, is no part of it: what is known of a case counts
whichever others were wanted, and as long as a longer or shorter time would have changed nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from wardian.errors import InputError
from wardian.measure.suites.execution import RunOptions
from wardian.measure.suites.outcomes import ProgramResult, SuiteOutcome
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.selection import Selection
from wardian.measure.target import Target
from wardian.sandbox.paths.whole_files import write_whole

MAX_KEPT_BYTES = 256 << 20
_EVERY = repr(Selection())


class Keeping(NamedTuple):
    """Where results are kept, and whether those that are there count."""

    directory: str | None = None
    resume: bool = False

    def keep(self, result: ProgramResult) -> None:
        """Write it, whole or not at all."""
        if self.directory is not None:
            path = _file(self.directory, result.sandbox, result.program)
            write_whole(path, json.dumps(result.document(), indent=1) + "\n")

    def kept(self, sandbox: str, program: str, key: str) -> ProgramResult | None:
        """What counts of what was kept under that key; None if there is nothing."""
        if self.directory is None or not self.resume:
            return None
        return read_kept(self.directory, sandbox, program, key)


NOT_KEPT = Keeping()


def key_of(program: SuiteProgram, where: Target, options: RunOptions) -> str:
    """Names all that the outcome of a case depends on."""
    parts = [program.name, program.path, program.digest, program.protocol, where.name]
    parts += [where.version, where.policy.digest, repr(options.env), str(options.isolate)]
    parts.append(str(os.geteuid()))
    return "sha256:" + hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def whole(kept: ProgramResult, options: RunOptions) -> ProgramResult | None:
    """The result of all cases that are wanted now, if all that is kept of them still counts."""
    same = kept.selected == repr(options.selection)
    if not same and not (kept.selected == _EVERY and kept.listed):
        return None
    wants = options.selection.wants
    outcomes = tuple(one for one in kept.outcomes if same or wants(kept.program, one.case))
    if not all(_counts(one, kept, options) for one in outcomes):
        return None
    return kept._replace(outcomes=outcomes)


def known(kept: ProgramResult, options: RunOptions) -> Mapping[str, SuiteOutcome]:
    """The outcomes that still count, by case."""
    return {
        one.case: one for one in kept.outcomes if not one.of_program and _counts(one, kept, options)
    }


def _counts(one: SuiteOutcome, kept: ProgramResult, options: RunOptions) -> bool:
    if kept.timeout_s == options.timeout_s:
        return True
    if one.status in ("timeout", "not_run"):
        return options.timeout_s <= kept.timeout_s
    return one.seconds < options.timeout_s


def _file(directory: str, sandbox: str, program: str) -> str:
    return os.path.join(directory, sandbox, program.replace("/", "__") + ".json")


def read_kept(directory: str, sandbox: str, program: str, key: str) -> ProgramResult | None:
    """What was kept under that key; None if there is nothing, or it is something else."""
    try:
        with open(_file(directory, sandbox, program), "rb") as file:
            data = file.read(MAX_KEPT_BYTES + 1)
        result = ProgramResult.read(json.loads(data)) if len(data) <= MAX_KEPT_BYTES else None
    except (OSError, ValueError, RecursionError, InputError):
        return None
    return result if result is not None and result.key == key else None
