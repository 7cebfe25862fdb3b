"""From what a script needs to an environment that is ready: found, or made by one process while
others wait for it."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wardian.runner.packages import cabinet
from wardian.runner.packages.model import Preparation, PreparationError, PreparedPackages, Say

if TYPE_CHECKING:
    from wardian.runner.needs import Needs
    from wardian.runner.packages.pins import Pins
    from wardian.runner.script import Wish

Record = dict[str, Any]


def prepare(
    needs: Needs, wish: Wish, *, offline: bool = False, build: bool = False, say: Say
) -> PreparedPackages | None:
    """From the cache, or made now. None if this host has no interpreter for it, which is reported
    by whoever looks for one. Raises PreparationError."""
    if needs.package_json is not None:
        return _node(needs, offline=offline, build=build, say=say)
    return _python(needs, wish, offline=offline, build=build, say=say)


def _python(
    needs: Needs, wish: Wish, *, offline: bool, build: bool, say: Say
) -> PreparedPackages | None:
    from wardian.runner import pythons
    from wardian.runner.packages import venv

    version = wish.version if wish.name == "python" else None
    found = pythons.find(version or ">=3.8", os.environ)
    if found is None:
        return None
    base = venv.base_of(found.path)
    if base is None:
        raise PreparationError(
            f"{found.path} can't be used to create virtual environments",
            hint="use another Python on the PATH, or run without packages: --no-deps",
        )
    digest = _digest(["python", base.python, base.version, sorted(needs.python), build])

    def make(job: Preparation) -> Record:
        from wardian.runner.packages.python import make

        return make(job, base)

    expected = {"base": base.python, "prefix": base.prefix}
    path, record = _ready(digest, needs, offline, build, say, make, expected)
    modules = record.get("modules") if record else None  # it was there: the second run, or later
    if isinstance(modules, list):
        from wardian.runner.packages import bytecode

        bytecode.ensure(digest, path, base, modules)
    prefix = "" if base.is_system else base.prefix
    return PreparedPackages(python=os.path.join(path, "bin/python"), root=path, base=prefix)


def _parsed(needs: Needs) -> tuple[Pins, Needs]:
    """The requirements as they parse, their hashes apart from them.

    Raises UsageError, or SkillError if a file declares them.
    """
    from wardian.errors import SkillError, UsageError
    from wardian.runner.packages.pins import pins_of
    from wardian.runner.packages.requirements import checked

    try:
        python = checked(needs.python)
        return pins_of(needs.python), needs._replace(python=python)
    except UsageError as error:
        if needs.origin == "--with":
            raise
        raise SkillError(str(error), path=needs.origin, hint=error.hint) from None


def _node(needs: Needs, *, offline: bool, build: bool, say: Say) -> PreparedPackages | None:
    from wardian.sandbox.root.programs import on_path

    node, npm = (on_path(name, os.environ) for name in ("node", "npm"))
    if node is None:
        return None
    if npm is None:
        raise PreparationError(
            "the script needs packages, and npm is not installed",
            hint="install npm, or run without them: --no-deps",
        )
    texts = [
        (data or b"").decode("utf-8", "replace")
        for data in (needs.package_json, needs.package_lock)
    ]
    digest = _digest(["node", *texts, build])

    def make(job: Preparation) -> Record:
        from wardian.runner.packages.node import make

        return make(job, node, npm)

    path, _ = _ready(digest, needs, offline, build, say, make, {})
    return PreparedPackages(node_modules=os.path.join(path, "node_modules"), root=path)


def _digest(facts: Sequence[object]) -> str:
    import hashlib

    about = json.dumps([cabinet.SCHEMA, os.uname().machine, *facts])
    return hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _ready(
    digest: str,
    needs: Needs,
    offline: bool,
    build: bool,
    say: Say,
    make: Callable[[Preparation], Record],
    expected: Record,
) -> tuple[str, Record | None]:
    """The path of the environment, and its record if it was there already. What is recorded outside
    it decides, nothing inside does."""
    path = cabinet.path_of("environments", digest)
    cabinet.use(digest)
    record = _ready_record(digest, path, expected)
    if record is None:
        pins, needs = _parsed(needs)
        removal = cabinet.locked(
            cabinet.PREPARING, say, shared=True, why="the cache is being cleared"
        )
        with cabinet.locked(digest, say), removal:
            if _ready_record(digest, path, expected) is None:
                scratch = cabinet.path_of("scratch", digest)
                _make(digest, Preparation(path, scratch, needs, offline, build, say, pins), make)
    cabinet.used(digest)
    return path, record


def _ready_record(digest: str, path: str, expected: Record) -> Record | None:
    record = cabinet.read_record(digest)
    if record is None or any(record.get(key) != value for key, value in expected.items()):
        return None
    try:
        return record if stat.S_ISDIR(os.lstat(path).st_mode) else None
    except OSError:
        return None


def _make(digest: str, job: Preparation, make: Callable[[Preparation], Record]) -> None:
    from wardian.runner.packages.rooms import noting, stepping, wanted, wanted_text

    started = time.monotonic()
    say = job.say
    job = job._replace(say=noting(say), step=stepping(say))
    offline = " from the cache alone" if job.offline else ""
    job.say(f"wardian: preparing {wanted_text(job)}{offline}")
    cabinet.forget(digest)
    cabinet.forget(digest, "bytecode")
    for folder in (job.path, job.scratch):
        cabinet.discard(folder)
    try:
        for name in ("environments", "scratch"):
            with cabinet.drawer(name) as parent:
                os.mkdir(digest, 0o700, dir_fd=parent)
        os.chmod(job.path, 0o755)  # noqa: S103 - guests of root are other users
        about = make(job)
        about |= {"origin": job.needs.origin, "wanted": wanted(job), "build": job.build}
        cabinet.write_record(digest, about)
    except BaseException:
        cabinet.discard(job.path)
        raise
    finally:
        cabinet.discard(job.scratch)
    say(f"wardian: prepared {wanted_text(job)} in {time.monotonic() - started:.1f} s")
