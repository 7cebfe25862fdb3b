"""How a specimen is started in a target, and whether it may run there at all."""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

from wardian.measure.probes.specimen import Specimen, shipped, ships
from wardian.measure.target import Target
from wardian.sandbox.root.layout import WORK

PLACE = ".probe"
_FLAGS = {"python": ("-B",)}


def may_run(specimen: Specimen, target: Target, *, host_named: bool) -> bool:
    """On the bare host only what ships with wardian, unless the caller named the host."""
    return not target.is_host or host_named or ships(specimen.root)


class SpecimenCommand(NamedTuple):
    """How a specimen is started: ``files`` are put into its /work before.

    Nothing is shared for it, so what is measured is the policy as it stands; and a sandbox whose
    guest has fewer rights than its caller can reach it all the same.
    """

    argv: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None


def command(specimen: Specimen, program: str, target: Target) -> SpecimenCommand:
    """``program`` is the interpreter, or the executable of a specimen that is compiled."""
    compiled = specimen.language == "c"
    flags = () if compiled else _FLAGS.get(specimen.language, ())
    if target.is_host:
        argv = (program,) if compiled else (program, *flags, specimen.source)
        return SpecimenCommand((*target.prefix, *argv))
    work = f"{target.root}{WORK}"
    cwd = work if target.root else None
    if compiled:
        return SpecimenCommand((f"{work}/{PLACE}",), ((program, PLACE),), cwd)
    files = tuple((source, f"{PLACE}/{path}") for source, path in _files(specimen.root, specimen))
    return SpecimenCommand((program, *flags, f"{work}/{PLACE}/{specimen.path}"), files, cwd)


def _files(root: str, specimen: Specimen) -> list[tuple[str, str]]:
    """The specimen, and what it may need beside it: files that start with _ in the same language.

    Helpers that a directory of specimens lacks are those that ship.
    """
    extension = os.path.splitext(specimen.path)[1]
    folder = os.path.dirname(specimen.path)
    found = {specimen.path: specimen.source}
    for place, below in ((os.path.realpath(shipped("probes")), ""), (root, ""), (root, folder)):
        for name in _helpers(os.path.join(place, below), extension):
            found[os.path.join(below, name)] = os.path.join(place, below, name)
    return [(source, path) for path, source in found.items()]


@functools.cache
def _helpers(directory: str, extension: str) -> tuple[str, ...]:
    endings = (".sh", ".bash") if extension == ".bash" else (extension,)
    names = os.listdir(directory)
    return tuple(name for name in names if name.startswith("_") and name.endswith(endings))
