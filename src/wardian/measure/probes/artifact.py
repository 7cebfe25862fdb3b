"""One measurement as a document: written atomically, read strictly.

docs/reference/probe-artifact.md describes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.measure import refused
from wardian.measure.outcome import PROBE
from wardian.measure.probes.verdict import ERRNOS, EXPECTED, OBSERVED, SpecimenCheck, read_checks
from wardian.sandbox.paths.whole_files import write_whole
from wardian.sandbox.run.result import Refusal

SCHEMA = "wardian.probe/1"
MAX_BYTES = 1 << 20

_TEXT: tuple[type, ...] = (str,)
_TEXT_OR_NONE: tuple[type, ...] = (str, type(None))
_FIELDS: dict[str, tuple[tuple[type, ...], Collection[str | None] | None]] = {
    "schema": (_TEXT, (SCHEMA,)),
    "id": (_TEXT, None),
    "capability": (_TEXT, None),
    "domain": (_TEXT, None),
    "specimen": (_TEXT, None),
    "language": (_TEXT, None),
    "sandbox": (_TEXT, None),
    "sandbox_version": (_TEXT, None),
    "status": (_TEXT, PROBE),
    "cause": (_TEXT, None),
    "observed": (_TEXT_OR_NONE, (*OBSERVED, None)),
    "errno": (_TEXT_OR_NONE, (*ERRNOS, None)),
    "detail": (_TEXT, None),
    "expected": (_TEXT, EXPECTED),
    "expected_errno": ((list,), None),
    "reason": (_TEXT, None),
    "profile": (_TEXT, None),
    "duration_s": ((int, float), None),
    "host": (_TEXT, None),
    "kernel": (_TEXT, None),
    "machine": (_TEXT, None),
    "uid": ((int,), None),
    "policy_digest": (_TEXT, None),
    "degraded": ((list,), None),
    "refusals": ((list,), None),
    "wardian": (_TEXT, None),
    "time": (_TEXT, None),
}
_LISTS = ("expected_errno", "degraded")


class Artifact(NamedTuple):
    """What came of one specimen in one sandbox. ``observed`` is None where it gave no answer."""

    id: str
    capability: str
    domain: str
    specimen: str
    language: str
    sandbox: str
    sandbox_version: str
    status: str
    cause: str
    observed: str | None
    errno: str | None
    detail: str
    expected: str
    expected_errno: tuple[str, ...]
    reason: str
    profile: str
    duration_s: float
    host: str
    kernel: str
    machine: str
    uid: int
    policy_digest: str
    degraded: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    wardian: str
    time: str
    checks: tuple[SpecimenCheck, ...] = ()

    def document(self) -> dict[str, Any]:
        """The JSON document."""
        fields = self._asdict()
        fields |= {name: list(fields[name]) for name in _LISTS}
        fields["refusals"] = [refused.text(one) for one in self.refusals]
        fields["checks"] = [one._asdict() for one in self.checks]
        return {"schema": SCHEMA} | fields


def check(document: Any) -> Artifact:
    """The artifact that a document describes. Raises ValueError with what is wrong."""
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    for name, (kinds, choices) in _FIELDS.items():
        if name not in document:
            raise ValueError(f"`{name}` is missing")
        value = document[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise ValueError(f"`{name}` is of the wrong type")
        if choices is not None and value not in choices:
            raise ValueError(f"`{name}` is {value!r}")
        if isinstance(value, list) and not all(isinstance(one, str) for one in value):
            raise ValueError(f"`{name}` must hold texts")
    fields = {name: document[name] for name in _FIELDS if name != "schema"}
    fields |= {name: tuple(fields[name]) for name in _LISTS}
    fields["refusals"] = tuple(refused.read_text(one) for one in document["refusals"])
    return Artifact(**fields, checks=read_checks(document.get("checks", [])))


def place(directory: str, sandbox: str, probe_id: str) -> str:
    """Where an artifact is kept."""
    return os.path.join(directory, sandbox, f"{probe_id}.json")


def write(directory: str, artifact: Artifact) -> str:
    """Write it, whole or not at all; returns where."""
    path = place(directory, artifact.sandbox, artifact.id)
    data = json.dumps(check(artifact.document()).document(), indent=2) + "\n"
    write_whole(path, data, option="--artifacts")
    return path


def clear(directory: str, sandbox: str, probe_ids: Iterable[str], *, others: bool) -> None:
    """Remove what earlier runs said of these probes; with ``others``, of all that are gone too.

    A run that is killed then leaves nothing that looks as if it had been measured.
    """
    folder = os.path.join(directory, sandbox)
    os.makedirs(folder, exist_ok=True)
    wanted = {f"{probe_id}.json" for probe_id in probe_ids}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name in wanted or (others and name.endswith(".json") and _ours(path)):
            os.unlink(path)


def _ours(path: str) -> bool:
    try:
        read(path)
    except InputError:
        return False
    return True


def read(path: str) -> Artifact:
    """One artifact. Raises InputError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", path=path) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES} bytes", path=path)
    try:
        return check(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no artifact of a probe: {error}", path=path) from None


def read_all(directory: str) -> list[Artifact]:
    """The artifacts in a directory, or in the directories of sandboxes below it. Raises InputError
    if one of them can't be read, or if there is none."""
    if not os.path.isdir(directory):
        raise InputError("is not a directory of artifacts", path=directory)
    found = []
    for folder in (directory, *sorted(_folders(directory))):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json") and not name.startswith("."):
                found.append(read(os.path.join(folder, name)))
    if not found:
        raise InputError("holds no artifacts", path=directory, hint="wardian probe all makes them")
    return found


def _folders(directory: str) -> list[str]:
    with os.scandir(directory) as entries:
        return [one.path for one in entries if one.is_dir() and not one.name.startswith(".")]
