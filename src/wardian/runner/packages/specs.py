"""What may be asked for of npm: ranges of a registry, and https tarballs. Pure.

Decided for package.json and for lock files, the skill's own and those that npm writes; what git, a
disk or another protocol would have to bring is refused wherever it stands.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from wardian.runner.packages.requirements import is_loopback
from wardian.text import printable

MAX_PACKAGES = 20_000
MAX_DEPTH = 64
_NAME = re.compile(r"(@[A-Za-z0-9~_-][\w.~-]*/)?[A-Za-z0-9~_-][\w.~-]*", re.ASCII)
# A version, a range or a tag: nothing with a slash, a colon or an @, and no file by its ending.
_RANGE = re.compile(r"(?!\.)(?!.*\.(tgz|tar\.gz|tar)\s*$)[A-Za-z0-9^~<>=|*.+ _-]{0,256}", re.I)
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+/[A-Za-z0-9._~!$&'()*+,=@/%-]*")
_GIT_HOSTS = ("github.com", "gist.github.com", "gitlab.com", "bitbucket.org", "git.sr.ht")
_INTEGRITY = re.compile(r"(sha512|sha384|sha256|sha1)-([A-Za-z0-9+/]+={0,2})")


class Package(NamedTuple):
    """One package of a lock: where it goes, where it comes from, and its strongest hash."""

    place: str
    url: str
    hashes: tuple[tuple[str, str], ...]
    optional: bool
    fits: bool
    installs: bool  # it has an install script

    @property
    def name(self) -> str:
        return self.place.rpartition("node_modules/")[2]


def manifest_fault(wanted: Mapping[str, Any]) -> str | None:
    """Why a package.json is refused, or None."""
    for key in ("dependencies", "optionalDependencies"):
        table = wanted.get(key, {})
        if not isinstance(table, dict):
            return f"`{key}` must be an object"
        for name, spec in table.items():
            why = spec_fault(name, spec)
            if why:
                return why
    return _overrides_fault(wanted.get("overrides", {}), 0)


def _overrides_fault(table: Any, depth: int) -> str | None:
    if not isinstance(table, dict) or depth > MAX_DEPTH:
        return "`overrides` must be an object"
    for name, value in table.items():
        if isinstance(value, dict):
            why = _overrides_fault(value, depth + 1)
        else:
            key = name if name == "." else re.sub(r"(?<=.)@[^/]*$", "", name)
            referred = isinstance(value, str) and _NAME.fullmatch(value.removeprefix("$"))
            known = referred and value.startswith("$")
            why = None if known else spec_fault("x" if key == "." else key, value)
        if why:
            return why
    return None


def spec_fault(name: str, spec: object) -> str | None:
    """Why ``"name": "spec"`` is refused, or None."""
    shown = f"{printable(str(name)[:80])}: {printable(str(spec)[:120])}"
    if not isinstance(spec, str) or not _NAME.fullmatch(name):
        return f"{shown} is not a package of a registry"
    if _RANGE.fullmatch(spec):
        return None
    if spec.startswith("npm:"):
        other, at, wish = spec[4:].rpartition("@")
        other, wish = (other, wish) if at and other else (spec[4:], "")
        return (
            None
            if _NAME.fullmatch(other) and _RANGE.fullmatch(wish)
            else f"{shown} is not a valid alias"
        )
    if re.match(r"(file|link|workspace|portal):|[./~]", spec, re.I):
        return f"{shown} is asked for from this disk, which it can't see"
    why = tarball_fault(spec)
    return f"{shown}: {why}" if why else None


def tarball_fault(url: str) -> str | None:
    """Why a URL that a package.json names is refused, or None."""
    if not _URL.fullmatch(url):
        return "only ranges of a registry and plain https tarballs are accepted"
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https" and not is_loopback(host):
        return "it must be https"
    if not parts.path.endswith((".tgz", ".tar.gz")):
        return "its path must end in .tgz or .tar.gz"
    if host.removeprefix("www.") in _GIT_HOSTS and parts.path.count("/") < 4:
        return "npm takes that for a git repository"
    return None


def lock_fault(data: bytes) -> str | None:
    """Why a lock file that a skill brings is refused, or None."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(document, dict):
        return "it must be a JSON object"
    packages = document.get("packages", {})
    if not isinstance(packages, dict) or len(packages) > MAX_PACKAGES:
        return "its packages can't be read"
    for place, about in packages.items():
        why = _entry_fault(place, about) if place else None
        if why:
            return why
    for name, about in _nested(document.get("dependencies", {}), 0):
        why = _old_fault(name, about)
        if why:
            return why
    return None


def read_lock(data: bytes, known: frozenset[str]) -> list[Package]:
    """The packages of a lock that npm wrote. Raises ValueError with why one is refused.

    ``known`` are the origins of the user's registries, which may be plain http.
    """
    try:
        packages = json.loads(data)["packages"]
        if len(packages) > MAX_PACKAGES:
            raise ValueError("npm's lock holds too many packages")
        found = [_package(place, about) for place, about in packages.items() if place]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"npm's lock can't be read: {error}") from None
    for place, about in packages.items():
        why = _entry_fault(place, about, known) if place else None
        if why:
            raise ValueError(why)
    return [one for one in found if one is not None]


def _package(place: str, about: dict[str, Any]) -> Package | None:
    if about.get("inBundle") or not about.get("resolved"):
        return None  # it comes inside another one's archive
    hashes = sorted(
        (one[1], base64.b64decode(one[2], validate=True).hex())
        for one in _INTEGRITY.finditer(str(about.get("integrity", "")))
    )
    return Package(
        place,
        str(about["resolved"]),
        tuple(hashes),
        bool(about.get("optional") or about.get("devOptional")),
        _fits(about),
        bool(about.get("hasInstallScript")),
    )


def _fits(about: Mapping[str, Any]) -> bool:
    import os

    machine = os.uname().machine
    cpu = {"x86_64": "x64", "aarch64": "arm64", "armv7l": "arm", "i686": "ia32"}.get(
        machine, machine
    )
    return _listed("linux", about.get("os")) and _listed(cpu, about.get("cpu"))


def _listed(value: str, wanted: object) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not names:
        return True
    if f"!{value}" in names:
        return False
    return value in names or "any" in names or all(str(one).startswith("!") for one in names)


def _entry_fault(place: str, about: Any, known: frozenset[str] = frozenset()) -> str | None:
    """An entry of ``packages``: below node_modules, no link, and from an https tarball."""
    shown = printable(str(place)[:120])
    names = re.split(r"(?:^|/)node_modules/", place)
    if names[0] or not names[1:] or not all(_NAME.fullmatch(one) for one in names[1:]):
        return f"{shown} is not a valid place for a package"
    if not isinstance(about, dict) or about.get("link"):
        return f"{shown} is a link to this disk"
    resolved = about.get("resolved")
    if resolved is None or resolved is False or about.get("inBundle"):
        return None
    why = _resolved_fault(resolved, known)
    return f"{shown} comes from {printable(str(resolved)[:120])}: {why}" if why else None


def _resolved_fault(url: object, known: frozenset[str] = frozenset()) -> str | None:
    from wardian.runner.indexes import origin

    if not isinstance(url, str) or not _URL.fullmatch(url):
        return "only registries and https tarballs are accepted"
    parts = urlsplit(url)
    if (
        parts.scheme != "https"
        and not is_loopback(parts.hostname or "")
        and origin(url) not in known
    ):
        return "it must be https"
    if (parts.hostname or "").removeprefix("www.") in _GIT_HOSTS and parts.path.count("/") < 4:
        return "npm takes that for a git repository"
    return None


def _nested(table: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """All entries of the ``dependencies`` of an old lock, which nest."""
    if not isinstance(table, dict) or depth > MAX_DEPTH:
        yield "dependencies", None
        return
    for name, about in table.items():
        yield name, about
        if isinstance(about, dict):
            yield from _nested(about.get("dependencies", {}), depth + 1)


def _old_fault(name: str, about: Any) -> str | None:
    if not isinstance(about, dict):
        return f"{printable(str(name)[:80])} can't be read"
    version = about.get("version", "")
    if isinstance(version, str) and re.match(r"https?:", version):
        why = _resolved_fault(version)
    else:
        why = spec_fault(name, version)
    resolved = about.get("resolved")
    if not why and resolved and not about.get("bundled"):
        why = _resolved_fault(resolved)
    return f"{printable(str(name)[:80])}: {why}" if why else None
