"""What may be asked for of a Python index: PEP 508 requirements, parsed and written anew. Pure.

What a skill wrote is never handed on as text: what parses is rendered from its parts, and the rest
is refused. A direct URL must name its file in the path, over https, or http on this machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from wardian.errors import UsageError
from wardian.text import printable

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from wardian.runner.packages.model import Hash

SOURCES = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz")
MAX_LENGTH = 2000
MAX_REQUIREMENTS = 1000  # which are words of a command line
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+/[A-Za-z0-9._~!$&'()*+,=@/%-]*")
_HASHED = re.compile(r"#sha256=([0-9a-f]{64})")
_OPTION = re.compile(r"\s--hash(?:=|\s+)(sha256|sha384|sha512):([0-9a-fA-F]+)(?=\s|$)")
_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
_FORMS = "write NAME, NAME==1.2, or NAME @ https://…/NAME-1.2-….whl"


def checked(texts: Sequence[str]) -> tuple[str, ...]:
    """Each requirement, parsed and rendered; ``pins`` reads its hashes. Raises UsageError."""
    if len(texts) > MAX_REQUIREMENTS:
        raise UsageError(f"{len(texts):,} packages; the limit is {MAX_REQUIREMENTS:,}")
    return tuple(rendered(parsed(split_hashes(text)[0])) for text in texts)


def split_hashes(text: str) -> tuple[str, tuple[Hash, ...]]:
    """A requirement, and the hashes of its ``--hash`` options. Raises UsageError."""
    hashes = tuple((kind, value.lower()) for kind, value in _OPTION.findall(text))
    plain = _OPTION.sub("", text)
    if "--hash" in plain or any(len(value) != _DIGITS[kind] for kind, value in hashes):
        raise _refused(text, "--hash takes sha256:, sha384: or sha512: and all its digits")
    return plain, hashes


def hash_of_url(url: str) -> tuple[Hash, ...]:
    """The hash in the fragment of a direct URL."""
    return tuple(("sha256", value) for value in _HASHED.findall(url))


def parsed(text: str) -> Requirement:
    """The requirement that a text is. Raises UsageError."""
    from packaging.requirements import InvalidRequirement, Requirement

    plain = text.strip(" \t")
    if len(plain) > MAX_LENGTH or not plain.isascii() or not plain.isprintable():
        raise _refused(text)
    try:
        found = Requirement(plain)
    except (InvalidRequirement, RecursionError):
        raise _refused(text) from None
    if found.url is not None:
        why = url_fault(found.url, found.name, (".whl", *SOURCES))
        if why:
            raise _refused(text, why)
    return found


def rendered(requirement: Requirement) -> str:
    """The text of a requirement, made from its parts alone."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    if requirement.url is not None:
        return f"{requirement.name}{extras} @ {requirement.url}{marker}"
    return f"{requirement.name}{extras}{requirement.specifier}{marker}"


def source_urls(texts: Iterable[str]) -> list[str]:
    """Those that name an archive which would have to be built."""
    return [text for text in texts if (url := parsed(text).url) and not is_wheel_url(url)]


def is_wheel_url(url: str) -> bool:
    """Does the path of the URL, as it stands there, name a wheel?"""
    return urlsplit(url).path.endswith(".whl")


def url_fault(url: str, name: str, endings: Sequence[str]) -> str | None:
    """Why a direct URL is refused, or None. It must say in its path which file it is."""
    plain = _HASHED.sub("", url) if _HASHED.search(url) else url
    if not _URL.fullmatch(plain):
        return "only plain https:// URLs of a file are accepted"
    parts = urlsplit(plain)
    try:
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "its host can't be read"
    if parts.scheme != "https" and not is_loopback(host):
        return "it must be https"
    last = parts.path.rpartition("/")[2]
    decoded = unquote(last, errors="strict")
    if not decoded.isascii() or not re.fullmatch(r"[A-Za-z0-9._+!-]+", decoded):
        return "its path does not end in the name of a file"
    if not last.endswith(tuple(endings)):
        return f"its path must end in {' or '.join(endings)}"
    return _wheel_fault(decoded, name) if last.endswith(".whl") else None


def is_loopback(host: str) -> bool:
    """This machine itself, by its usual names."""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def lines_of(text: str) -> list[str]:
    """The requirements of a requirements.txt with their hashes, comments taken off.

    Option lines stay in, so that ``checked`` refuses them by name.
    """
    joined = re.sub(r"\\\r?\n", " ", text.removeprefix("\ufeff"))
    lines = (re.split(r"(?:^|\s)#", line, maxsplit=1)[0] for line in joined.splitlines())
    return [bare for line in lines if (bare := line.strip())]


def _wheel_fault(filename: str, name: str) -> str | None:
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

    try:
        found = parse_wheel_filename(filename)[0]
    except (InvalidWheelFilename, ValueError):
        return "its path does not end in the name of a wheel"
    return None if found == canonicalize_name(name) else f"it is a wheel of {found}"


def _refused(text: str, why: str = "") -> UsageError:
    shown = printable(text if len(text) <= 120 else text[:117] + "…")
    if re.match(r"\s*-", text):
        return UsageError(
            f"{shown!r} is not a package: a skill can't set options of the package manager",
            hint="name the packages themselves, or run without them: --no-deps",
        )
    return UsageError(
        f"{shown!r} is not a package" + (f": {why}" if why else f"; {_FORMS}"),
        hint=_FORMS if why else None,
    )
