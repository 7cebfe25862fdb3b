"""Find the packages that come as source only. Reads a plan as JSON from stdin; writes the source
archives as ``0``, ``1`` … and ``found.json`` about them. Executes nothing.

Requirements are followed from the newest wheel that fits to what that requires, and on. A package
without a fitting wheel is fetched as source; what that needs is known when it has been built.
"""

from __future__ import annotations

import email.message
import email.parser
import json
import os
import shutil
import sys
import zipfile
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import simple  # type: ignore[import-not-found]
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import (
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

MAX_PACKAGES = 500
METADATA_BYTES = 16 << 20


def main() -> int:
    plan = json.load(sys.stdin)
    open_url = simple.opener(plan)
    tags = simple.ranks()
    pending: list[Any] = [(Requirement(text), ("",)) for text in plan["requirements"]]
    seen: set[Any] = set()
    sources: dict[str, Any] = {}
    while pending and len(seen) < MAX_PACKAGES:
        wanted, extras = pending.pop()
        if wanted.marker and not any(wanted.marker.evaluate({"extra": one}) for one in extras):
            continue
        name = canonicalize_name(wanted.name)
        key = (name, frozenset(wanted.extras), str(wanted.specifier))
        if key in seen or wanted.url is not None:
            continue
        seen.add(key)
        wheel, source = choose(wanted, name, simple.files_of(name, plan, open_url), tags)
        if wheel is not None:
            pending += [(one, ("", *wanted.extras)) for one in requires(wheel, open_url, plan)]
        elif source is not None:
            sources[name] = source
    write(sources, open_url, plan)
    return 0


def choose(wanted: Requirement, name: str, files: list[Any], tags: Any) -> tuple[Any, Any]:
    """The newest wheel and the newest source archive that satisfy a requirement."""
    wheels: list[Any] = []
    sources: list[Any] = []
    for one in files:
        if one.get("yanked") or not fits(one.get("requires-python")):
            continue
        try:
            if one["filename"].endswith(".whl"):
                found, version = parse_wheel_filename(one["filename"])[:2]
                kept = wheels if simple.rank(one["filename"], tags) < simple.UNFIT else None
            else:
                found, version = parse_sdist_filename(one["filename"])
                kept = sources
        except ValueError:
            continue
        if kept is not None and found == name:
            kept.append((version, {**one, "name": name, "version": str(version)}))
    return newest(wanted, wheels), newest(wanted, sources)


def newest(wanted: Requirement, found: list[Any]) -> Any:
    versions = set(wanted.specifier.filter([version for version, _ in found]))
    fitting = [pair for pair in found if pair[0] in versions]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def fits(wish: str | None) -> bool:
    try:
        return not wish or SpecifierSet(wish).contains(".".join(map(str, sys.version_info[:3])))
    except InvalidSpecifier:
        return False


def requires(wheel: Any, open_url: Any, plan: Any) -> list[Requirement]:
    """What a wheel's own metadata requires."""
    found = []
    for line in metadata(wheel, open_url, plan).get_all("Requires-Dist") or ():
        try:
            found.append(Requirement(line))
        except InvalidRequirement:
            continue
    return found


def metadata(wheel: Any, open_url: Any, plan: Any) -> email.message.Message:
    try:
        if wheel.get("core-metadata") or wheel.get("dist-info-metadata"):
            with open_url(wheel["url"] + ".metadata") as answer:
                text = answer.read(METADATA_BYTES)
        else:
            place = os.path.join(plan["into"], "wheel")
            with open_url(wheel["url"]) as source, open(place, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            with zipfile.ZipFile(place) as archive:
                (inner,) = [
                    n
                    for n in archive.namelist()
                    if n.count("/") == 1 and n.endswith(".dist-info/METADATA")
                ]
                with archive.open(inner) as file:
                    text = file.read(METADATA_BYTES)
            os.unlink(place)
    except (OSError, ValueError, zipfile.BadZipFile):
        text = b""
    return email.parser.BytesParser().parsebytes(text, headersonly=True)


def write(sources: dict[str, Any], open_url: Any, plan: Any) -> None:
    found = []
    for number, one in enumerate(sources.values()):
        with (
            open_url(one["url"]) as source,
            open(os.path.join(plan["into"], str(number)), "xb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
        found.append({key: one.get(key) for key in ("name", "version", "filename", "hashes")})
    with open(os.path.join(plan["into"], "found.json"), "x") as file:
        json.dump(found, file)


if __name__ == "__main__":
    sys.exit(main())
