"""Which wheels serve a set of requirements: asked of uv or pip in a sandbox where no package can be
executed. What they answer is parsed, and refused unless every file of it may be fetched."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from wardian.runner.indexes import origin
from wardian.runner.packages.cabinet import read_new
from wardian.runner.packages.model import (
    Locked,
    OldToolError,
    PackageFile,
    Preparation,
    PreparationError,
)
from wardian.runner.packages.reasons import absent, reason_of
from wardian.runner.packages.requirements import is_loopback, url_fault
from wardian.runner.packages.rooms import FETCH, attempt, failure, fetching, not_allowed
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.shares import is_below
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings
    from wardian.runner.packages.rooms import Room
    from wardian.runner.packages.tools import Tools
    from wardian.sandbox.run.result import Result

LOCK_BYTES = 24 << 20
MAX_PACKAGES = 5000
_HASH = re.compile(r"[0-9a-fA-F]{32,128}")
_HASHES = ("sha512", "sha384", "sha256")
_OLD = re.compile(r"(?m)^error: (unexpected argument|invalid value) '(--format|pylock\.toml)")


def resolve(
    job: Preparation,
    tools: Tools,
    settings: Settings,
    folder: str,
    requirements: Sequence[str],
    extra_links: Sequence[Share] = (),
) -> list[Locked]:
    """The wheels that serve. ``folder`` is private to this preparation. Raises PreparationError.

    ``extra_links`` are directories with more wheels: those that were built, or the store's.
    """
    ask = _uv if tools.uv is not None else _pip
    found = ask(_Asked(job, tools, settings, folder, requirements, extra_links))
    for one in found:
        _refuse_strange(one, settings, extra_links)
    return found


class _Asked(NamedTuple):
    job: Preparation
    tools: Tools
    settings: Settings
    folder: str
    requirements: Sequence[str]
    extra_links: Sequence[Share]


def _uv(asked: _Asked) -> list[Locked]:
    """uv builds nothing with --no-build, and finds no git on an empty PATH."""
    job, tools, settings, folder, requirements, extra_links = asked
    assert tools.uv is not None  # noqa: S101 - the caller chose by it
    room = fetching(job, folder, settings, [*tools.shares, *extra_links])
    command = [tools.uv, "pip", "compile", "-", "--no-build", "--format", "pylock.toml", "-q"]
    command += [
        "--output-file",
        f"{FETCH}/pylock.toml",
        "--no-header",
        "--python",
        tools.base.python,
    ]
    command += [*settings.options, *(["--offline"] if job.offline else [])]
    for share in extra_links:
        command += ["--find-links", share.at]
    result, printed = attempt(job, room, command, "\n".join(requirements).encode())
    if _OLD.search(printed) and result.exit_code == 2:
        raise OldToolError(
            "this uv is too old: it does not write pylock.toml", hint="install a newer uv, or pip"
        )
    if result.exit_code != 0:
        raise failure(job, "uv", printed, result)
    return read_pylock(read_new(os.path.join(folder, "pylock.toml"), LOCK_BYTES))


def _pip(asked: _Asked) -> list[Locked]:
    """pip prepares metadata of source archives by starting Python: in this room it can't."""
    job, tools, settings, folder, requirements, extra_links = asked
    shares = [*tools.shares, *extra_links]
    room = fetching(job, folder, settings, shares, alone=True)
    command = [*tools.pip_in_process, "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", f"{FETCH}/report.json", "--only-binary", ":all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--no-index"] if job.offline else []
    for share in extra_links:
        command += ["--find-links", share.at]
    result, printed = attempt(job, room, [*command, "--", *requirements])
    if result.exit_code != 0:
        raise _pip_failure(job, tools, room, printed, result)
    return read_report(read_new(os.path.join(folder, "report.json"), LOCK_BYTES))


def _pip_failure(
    job: Preparation, tools: Tools, room: Room, printed: str, result: Result
) -> PreparationError:
    """pip looks for wheels alone and calls all else absent: whether there is a source, the index
    knows."""
    name = reason_of(printed).unclear
    if not name or job.offline or job.build:
        return failure(job, "pip", printed, result)
    look = [*tools.pip_in_process, "index", "versions", "--disable-pip-version-check", "--", name]
    found, _ = attempt(job, room, look)
    if found.exit_code == 0:
        return not_allowed(f"{printable(name)} has no wheel for this Python: it must be built")
    return failure(job, "pip", printed, result, absent(name))


# What they answer


def read_pylock(data: bytes) -> list[Locked]:
    """The packages of a pylock.toml (PEP 751). Raises PreparationError for what is no wheel."""
    from wardian import toml

    try:
        packages = toml.loads(data.decode("utf-8")).get("packages", [])
        return [_of_pylock(one) for one in packages[:MAX_PACKAGES]]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise PreparationError("uv's answer can't be read") from None


def _of_pylock(one: dict[str, Any]) -> Locked:
    name, version = str(one["name"]), str(one.get("version", ""))
    if "archive" in one:
        return Locked(name, version, (_candidate(one["archive"]),), direct=True)
    wheels = tuple(_candidate(wheel) for wheel in one.get("wheels", ()))
    if not wheels:
        kind = next((k for k in ("vcs", "directory", "sdist") if k in one), "no wheel")
        raise not_allowed(f"{printable(name)} comes as {kind}, and would have to be built")
    return Locked(name, version, wheels)


def _candidate(one: dict[str, Any]) -> PackageFile:
    hashes = {k: v for k, v in one.get("hashes", {}).items() if k in _HASHES}
    if not all(isinstance(v, str) and _HASH.fullmatch(v) for v in hashes.values()):
        raise ValueError
    url = one.get("url") or one["path"]
    return PackageFile(str(url), tuple(sorted(hashes.items())))


def read_report(data: bytes) -> list[Locked]:
    """The packages of pip's installation report. Raises PreparationError for what is no wheel."""
    try:
        found = []
        for one in json.loads(data)["install"][:MAX_PACKAGES]:
            about = one["download_info"]
            name, version = str(one["metadata"]["name"]), str(one["metadata"]["version"])
            if "archive_info" not in about:
                raise not_allowed(f"{printable(name)} comes from {printable(str(about['url']))}")
            info = about["archive_info"]
            hashes = dict(info.get("hashes") or [str(info.get("hash", "=")).split("=", 1)])
            wheel = {"url": about["url"], "hashes": {k: v for k, v in hashes.items() if v}}
            found.append(Locked(name, version, (_candidate(wheel),), bool(one.get("is_direct"))))
        return found
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise PreparationError("pip's answer can't be read") from None


def _refuse_strange(one: Locked, settings: Settings, extra_links: Sequence[Share]) -> None:
    """Only wheels, only of the package they are chosen for, only from where the user says."""
    known = {origin(url) for url in (*settings.indexes, *settings.find_links)}
    local = [share.at for share in (*settings.shares, *extra_links)]
    for candidate in one.candidates:
        why = candidate_fault(one, candidate, known, local)
        if why:
            shown = printable(candidate.url)
            raise not_allowed(f"{printable(one.name)} would come from {shown}: {why}")


def candidate_fault(
    one: Locked, candidate: PackageFile, known: set[str], local: Sequence[str]
) -> str | None:
    """Why a file that a resolver chose is not fetched, or None. Pure."""
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

    if one.direct:
        return url_fault(candidate.url, one.name, (".whl",))
    parts = urlsplit(candidate.url)
    path = unquote(parts.path) if parts.scheme == "file" else candidate.url
    if path.startswith("/"):
        if ".." in path.split("/") or not any(is_below(path, root) for root in local):
            return "it is not one of your indexes"
    elif parts.scheme != "https" and not (
        parts.scheme == "http"
        and (is_loopback(parts.hostname or "") or origin(candidate.url) in known)
    ):
        return "it must be https"
    try:
        found = parse_wheel_filename(candidate.filename)[0]
    except (InvalidWheelFilename, ValueError):
        return "it is not a wheel"
    return None if found == canonicalize_name(one.name) else f"it is a wheel of {found}"
