"""What a script needs, prepared once and kept by content. Preparing is not trusted either.

Package managers run in a sandbox of their own: the network and the settings of the user's package
indexes, the new environment and a store of downloads to write to, and nothing else of the host.
They may only install: wheels for Python, packages without install scripts for Node. With
``build=True`` code of packages may run there, and then neither passwords nor the common store are
at hand.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import SandboxError, WardianError
from wardian.runner.state import home

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings
    from wardian.runner.needs import Needs
    from wardian.runner.script import Wish
    from wardian.sandbox.policy import Policy
    from wardian.sandbox.result import Result

Say = Callable[[str], None]

SCHEMA = 1
READY = ".wardian-ready"
LIMITS = {
    "time_s": 1800.0, "cpu_s": 3600.0, "memory_bytes": 8 << 30, "processes": 1024,
    "files": 4096, "disk_bytes": 32 << 30, "output_bytes": 16 << 20,
}  # fmt: skip
TOLD_LINES = 12


class PreparationError(SandboxError):
    """Dependencies could not be prepared. Nothing of the skill was run."""


class Prepared(NamedTuple):
    """``python`` starts the environment's own interpreter; both are absolute paths."""

    python: str | None = None
    node_modules: str | None = None


class Job(NamedTuple):
    """One environment to be made at ``path``."""

    path: str
    needs: Needs
    offline: bool
    build: bool
    say: Say


def prepare(
    needs: Needs, wish: Wish, *, offline: bool = False, build: bool = False, say: Say
) -> Prepared | None:
    """From the cache, or made now. None if this host has no interpreter for it, which is told by
    whoever looks for one. Raises PreparationError."""
    if needs.package_json is not None:
        return _node(needs, offline=offline, build=build, say=say)
    return _python(needs, wish, offline=offline, build=build, say=say)


# Python


def _python(needs: Needs, wish: Wish, *, offline: bool, build: bool, say: Say) -> Prepared | None:
    from wardian.runner import pythons

    version = wish.version if wish.name == "python" else None
    base = pythons.find(version or ">=3.8", os.environ)
    if base is None:
        return None
    facts = ["python", base.path, base.version, sorted(needs.python), build]
    job = Job(_place(facts), needs, offline, build, say)
    python = os.path.join(job.path, "bin/python")
    with _made(job, python, lambda: _make_python(job, base.path)):
        return Prepared(python=python)


def _make_python(job: Job, base: str) -> None:
    from wardian.runner.indexes import pip_settings, uv_settings
    from wardian.sandbox.programs import on_path

    _refuse_source_urls(job)
    uv = on_path("uv", os.environ)
    settings = (uv_settings if uv else pip_settings)(os.environ, secrets=not job.build)
    python = os.path.join(job.path, "bin/python")
    wheels = [] if job.build else ["--only-binary", ":all:"]
    if uv is not None:
        _run(
            job,
            [uv, "venv", "--allow-existing", "--no-project", "-q", "--python", base, job.path],
            settings,
            base,
        )
        command = [uv, "pip", "install", *settings.options, "--python", python]
        command.append("--compile-bytecode")
        command += (["--offline"] if job.offline else []) + ([] if job.build else ["--no-build"])
        _run(job, [*command, "--", *job.needs.python], settings, base)
        return
    pip = _pip(base)
    _run(
        job,
        [base, "-m", "venv", *([] if pip is None else ["--without-pip"]), job.path],
        settings,
        base,
    )
    command = [python, "-m", "pip"] if pip is None else [pip, "-m", "pip", "--python", python]
    command += ["install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--no-warn-script-location", *(["--no-index"] if job.offline else [])]
    _run(job, [*command, *wheels, "--", *job.needs.python], settings, base)


def _refuse_source_urls(job: Job) -> None:
    """pip builds whatever a URL names, wheels only or not."""
    for requirement in job.needs.python:
        name, at, url = requirement.partition("@")
        if at and "://" in url and not url.split("#")[0].split(";")[0].strip().endswith(".whl"):
            raise _not_allowed(f"{name.strip()} comes from {url.strip()}, which has to be built")


def _pip(base: str) -> str | None:
    """A Python whose pip can install for another one (pip 22.3 and later), or None."""
    import subprocess
    import sys

    code = "import pip; print(*pip.__version__.split('.')[:2])"
    for python in dict.fromkeys((base, sys.executable)):
        told = subprocess.run(
            [python, "-I", "-c", code], capture_output=True, cwd="/", check=False, timeout=60
        )
        numbers = told.stdout.decode("ascii", "replace").split()
        if told.returncode == 0 and tuple(int(n) for n in numbers if n.isdigit()) >= (22, 3):
            return python
    return None


# Node


def _node(needs: Needs, *, offline: bool, build: bool, say: Say) -> Prepared | None:
    from wardian.sandbox.programs import on_path

    npm = on_path("npm", os.environ)
    if npm is None:
        if on_path("node", os.environ) is None:
            return None
        raise PreparationError(
            "npm is not installed, and the script needs packages",
            hint="install npm, or run without them: --no-deps",
        )
    texts = [
        (data or b"").decode("utf-8", "replace")
        for data in (needs.package_json, needs.package_lock)
    ]
    job = Job(_place(["node", *texts, build]), needs, offline, build, say)
    modules = os.path.join(job.path, "node_modules")
    with _made(job, modules, lambda: _make_node(job, npm)):
        return Prepared(node_modules=modules)


def _make_node(job: Job, npm: str) -> None:
    from wardian.runner.indexes import npm_settings

    _write(job.path, "package.json", job.needs.package_json or b"{}")
    locked = job.needs.package_lock is not None
    if job.needs.package_lock is not None:
        _write(job.path, "package-lock.json", job.needs.package_lock)
    command = [npm, "ci" if locked else "install", "--omit=dev", "--no-audit", "--no-fund"]
    command += [] if locked else ["--no-package-lock"]
    command += [] if job.build else ["--ignore-scripts"]
    command += ["--offline"] if job.offline else []
    _run(job, command, npm_settings(os.environ, secrets=not job.build), npm)
    os.makedirs(os.path.join(job.path, "node_modules"), exist_ok=True)
    if not job.build:
        _refuse_install_scripts(job.path)


def _refuse_install_scripts(path: str) -> None:
    try:
        with open(os.path.join(path, "node_modules/.package-lock.json"), "rb") as file:
            packages = json.load(file)["packages"]
    except (OSError, ValueError, KeyError):
        return
    names = [
        name.rpartition("node_modules/")[2]
        for name, about in packages.items()
        if about.get("hasInstallScript") and not about.get("optional")
    ]
    if names:
        raise _not_allowed(f"{', '.join(sorted(set(names))[:5])} would run an install script")


def _not_allowed(what: str) -> PreparationError:
    return PreparationError(
        what, hint="--build lets it, in a sandbox of its own that has the network and nothing else"
    )


# The cache


def cache() -> str:
    """Where environments are kept; all of it can be removed at any time."""
    return home("XDG_CACHE_HOME", ".cache")


def _place(facts: Sequence[object]) -> str:
    import hashlib

    about = json.dumps([SCHEMA, os.uname().machine, *facts])
    digest = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return os.path.join(cache(), str(facts[0]), digest)


@contextmanager
def _made(job: Job, result: str, make: Callable[[], None]) -> Iterator[None]:
    """Present when the body runs: found ready, or made by one process while others wait."""
    ready = os.path.join(job.path, READY)
    if not (os.path.exists(ready) and os.path.exists(result)):
        _prepare_cache(os.path.dirname(job.path))
        with _locked(job):
            if not (os.path.exists(ready) and os.path.exists(result)):
                _make(job, make)
    yield


def _make(job: Job, make: Callable[[], None]) -> None:
    started = time.monotonic()
    what = ", ".join(_wanted(job.needs))
    job.say(f"wardian: preparing {what}" + (" from the cache alone" if job.offline else ""))
    _discard(job.path)
    os.mkdir(job.path, 0o755)
    try:
        make()
        _discard(os.path.join(job.path, ".tmp"))
        about = {"schema": SCHEMA, "origin": job.needs.origin, "wanted": _wanted(job.needs)}
        _write(job.path, READY, json.dumps(about).encode())
    except BaseException:
        _discard(job.path)
        raise
    job.say(f"wardian: prepared in {time.monotonic() - started:.1f} s")


def _wanted(needs: Needs) -> list[str]:
    if needs.package_json is None:
        return [_short(one) for one in needs.python]
    document = json.loads(needs.package_json)
    return [_short(name) for name in document.get("dependencies", {})]


def _short(text: str) -> str:
    from wardian.text import printable

    return printable(text if len(text) <= 60 else text[:57] + "…")


def _prepare_cache(folder: str) -> None:
    try:
        os.makedirs(cache(), mode=0o700, exist_ok=True)
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise PreparationError(
            f"environments can't be kept in {folder}: {(error.strerror or '').lower()}",
            hint="point XDG_CACHE_HOME to a directory that can be written to",
        ) from None


@contextmanager
def _locked(job: Job) -> Iterator[None]:
    """The kernel lets go of the lock when its holder ends, however it ends."""
    import fcntl

    fd = os.open(f"{job.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            job.say("wardian: another run is preparing the same; waiting for it")
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _discard(path: str) -> None:
    if os.path.lexists(path):
        from wardian.sandbox.files import remove_tree

        remove_tree(path)


def _write(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, name)
    with open(f"{path}.partial", "wb") as file:
        file.write(data)
    os.replace(f"{path}.partial", path)


# The sandbox in which package managers run


def _run(job: Job, command: list[str], settings: Settings, program: str) -> None:
    from wardian.sandbox.sandbox import Sandbox

    heard: list[bytes] = []

    def hear(data: bytes) -> None:
        heard.append(data)
        if os.isatty(2):
            for line in data.decode("utf-8", "replace").splitlines():
                job.say(f"  {_short(line)}")

    with Sandbox(_policy(job, settings, program), private_work=True) as sandbox:
        result = sandbox.run(command, cwd=job.path, on_stdout=hear, on_stderr=hear)
    if result.exit_code != 0:
        raise _failure(job, command, b"".join(heard), result)


def _policy(job: Job, settings: Settings, program: str) -> Policy:
    from wardian.sandbox.policy import Policy, Share
    from wardian.sandbox.programs import find_program

    temporary = os.path.join(job.path, ".tmp")
    os.makedirs(temporary, exist_ok=True)
    # Where code of packages runs, it must not leave anything for the next environment.
    store = temporary if job.build else os.path.join(cache(), "downloads")
    os.makedirs(store, mode=0o700, exist_ok=True)
    sources = find_program(program, os.environ).sources
    shares = [Share(source.path, source.at) for source in sources]
    shares += [*settings.shares, Share(job.path, job.path, write=True)]
    if store != temporary:
        shares.append(Share(store, store, write=True))
    variables = settings.variables | {
        "TMPDIR": temporary,
        "UV_CACHE_DIR": os.path.join(store, "uv"),
        "UV_LINK_MODE": "copy",
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_CACHE_DIR": os.path.join(store, "pip"),
        "npm_config_cache": os.path.join(store, "npm"),
        "npm_config_update_notifier": "false",
    }
    policy = Policy.default().with_limits(**LIMITS).with_shares(shares).with_env(variables)
    return policy._replace(network="none" if job.offline else "host")


def _failure(job: Job, command: list[str], heard: bytes, result: Result) -> WardianError:
    lines = [line for line in heard.decode("utf-8", "replace").splitlines() if line.strip()]
    tool = os.path.basename(command[0]) if command[1:2] != ["-m"] else command[2]
    told = "\n".join(lines[-TOLD_LINES:])
    if not job.build and _wants_build(told):
        hint = "packages that have to be built need --build, which lets them, in a sandbox\n"
    elif job.offline:
        hint = "without --offline it could be fetched\n"
    else:
        hint = ""
    why = result.reason if result.reason != "exited" else f"exit code {result.exit_code}"
    return PreparationError(
        f"{tool} could not prepare {', '.join(_wanted(job.needs))} ({why})",
        hint=f"{hint}{tool} said:\n{told}" if told else hint or None,
    )


def _wants_build(told: str) -> bool:
    signs = (
        "no matching distribution",
        "no usable wheels",
        "no wheels",
        "building source",
        "no binary",
    )
    return any(sign in told.lower() for sign in signs)
