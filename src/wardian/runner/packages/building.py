"""Source packages, with ``--build``: fetched without being opened, built where there is neither
network nor password, and from then on wheels like any other."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from wardian.descriptors import FOLDER
from wardian.errors import UsageError
from wardian.runner.packages import cabinet, store
from wardian.runner.packages.model import (
    Archive,
    Locked,
    OldToolError,
    PackageFile,
    Preparation,
    PreparationError,
)
from wardian.runner.packages.pins import Pins, refuse_unpinned
from wardian.runner.packages.python import download, new_folder, stored
from wardian.runner.packages.requirements import checked, is_wheel_url, parsed, rendered
from wardian.runner.packages.resolving import resolve
from wardian.runner.packages.rooms import (
    ARCHIVES,
    FETCH,
    attempt,
    failure,
    fetching,
    installing,
    run,
)
from wardian.sandbox.policy.policy import Share
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings
    from wardian.runner.packages.tools import Tools

BUILT, BUILD = "/built", "/build"
ROUNDS = 12
DEEPEST = 4  # what builds a package may itself have to be built
FOUND_BYTES = 4 << 20
DEFAULT = ("setuptools>=40.8.0", "wheel")


class Works(NamedTuple):
    """One gathering of wheels: what it uses, and what it has built so far, by filename."""

    job: Preparation
    tools: Tools
    settings: Settings
    built: dict[str, Archive]
    depth: int
    pins: Pins  # of what is installed; what builds it is not pinned, as with pip

    @property
    def links(self) -> list[Share]:
        """The wheels that were built, and offline those of the store, as more places to look."""
        names = (
            "scratch",
            os.path.basename(self.job.scratch),
            f"built-{self.depth}-{len(self.built)}",
        )
        found = [Share(store.laid_out(self.built.values(), names), BUILT)]
        return [*found, stored(self.job)] if self.job.offline else found


def gathered_or_built(job: Preparation, tools: Tools, settings: Settings) -> list[Archive]:
    """The wheels of the job's requirements, built where there are none. Raises PreparationError."""
    return _gathered(Works(job, tools, settings, {}, 0, job.pins), job.needs.python)


def _gathered(works: Works, requirements: Sequence[str]) -> list[Archive]:
    wanted = [_without_source_url(works, text) for text in requirements]
    for _ in range(ROUNDS):
        folder = new_folder(works.job, "resolve")
        try:
            locked = resolve(works.job, works.tools, works.settings, folder, wanted, works.links)
            return _archives(works, locked)
        except OldToolError:
            raise
        except PreparationError:
            sources = _sources(works, wanted)
            if not sources:
                raise
            for name, archive in sources:
                refuse_unpinned(works.pins, name, archive)
                _build(works, name, archive)
    raise PreparationError(f"the packages still need building after {ROUNDS} rounds")


def _archives(works: Works, locked: Sequence[Locked]) -> list[Archive]:
    """Those just built are at hand; the others are downloaded."""
    own, others = [], []
    for one in locked:
        path = unquote(urlsplit(one.candidates[0].url).path)
        archive = works.built.get(one.candidates[0].filename)
        if archive is not None and os.path.dirname(path) == BUILT:
            own.append(archive)
        else:
            others.append(one)
    return own + download(works.job, works.tools, works.settings, others, works.pins)


def _without_source_url(works: Works, text: str) -> str:
    """``NAME @ https://…tar.gz`` is fetched and built, and becomes ``NAME==VERSION``."""
    from packaging.specifiers import SpecifierSet
    from packaging.utils import parse_wheel_filename

    requirement = parsed(text)
    if requirement.url is None or is_wheel_url(requirement.url):
        return text
    plain, _, fragment = requirement.url.partition("#")
    hashes = tuple(tuple(fragment.split("=", 1)) for fragment in [fragment] if fragment)
    candidate = PackageFile(plain, hashes)  # type: ignore[arg-type]
    locked = Locked(requirement.name, "", (candidate,), direct=True)
    (archive,) = download(works.job, works.tools, works.settings, [locked], works.pins)
    wheel = _build(works, requirement.name, archive)
    requirement.url = None
    requirement.specifier = SpecifierSet(f"=={parse_wheel_filename(wheel.filename)[1]}")
    return rendered(requirement)


def _sources(works: Works, requirements: Sequence[str]) -> list[tuple[str, Archive]]:
    """Source archives of packages that have no wheel, fetched; none of them is opened."""
    settings, links = works.settings, works.links
    folder = new_folder(works.job, "explore")
    plan = {
        "requirements": list(requirements),
        "indexes": () if works.job.offline else settings.indexes,
        "find_links": [*settings.find_links, *(share.at for share in links)],
        "logins": settings.logins,
        "certificates": settings.certificates,
        "into": FETCH,
    }
    room = fetching(works.job, folder, settings, [*works.tools.shares, *links])
    data = json.dumps(plan).encode()
    run(works.job, room, works.tools.program("explore"), works.tools.name, data)
    fd = os.open(folder, FOLDER)
    try:
        about = json.loads(cabinet.read_new(os.path.join(folder, "found.json"), FOUND_BYTES))
        return [(str(one["name"]), _taken_in(fd, number, one)) for number, one in enumerate(about)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PreparationError("the source packages can't be read") from None
    finally:
        os.close(fd)


def _taken_in(folder: int, number: int, about: dict[str, object]) -> Archive:
    given = about.get("hashes")
    hashes = given.items() if isinstance(given, dict) else ()
    known = [(str(k), str(v)) for k, v in hashes if k in ("sha256", "sha384", "sha512")]
    return store.take_in(store.PYTHON, folder, str(number), str(about["filename"]), known)


# Building


def _build(works: Works, name: str, source: Archive) -> Archive:
    """One wheel from one source archive, kept for this preparation alone."""
    if works.depth >= DEEPEST:
        raise PreparationError(f"{name} needs too many other packages built first")
    needed = _build_requirements(works, name, source)
    inner = works._replace(built={}, depth=works.depth + 1, pins=Pins())
    wheels = _gathered(inner, needed) if needed else []
    job, tools = works.job, works.tools
    place = store.laid_out([source, *wheels], _names(job, "sources"))
    folder = new_folder(job, "build")
    os.mkdir(os.path.join(folder, ".tmp"), 0o700)
    room = installing(folder, BUILD, place, tools.shares, {})
    if tools.uv is not None:
        command = [tools.uv, "build", "--wheel", "--offline", "--no-index", "--no-config", "-q"]
        command += ["--find-links", ARCHIVES, "--python", tools.base.python]
        command += ["--out-dir", f"{BUILD}/out", f"{ARCHIVES}/{source.filename}"]
    else:
        command = [*tools.pip_in_process, "wheel", "--no-index", "--find-links", ARCHIVES]
        command += ["--no-deps", "--no-input", "--disable-pip-version-check", "--quiet"]
        command += ["-w", f"{BUILD}/out", "--", f"{ARCHIVES}/{source.filename}"]
    result, printed = attempt(job, room, command)
    if result.exit_code != 0:
        raise failure(job, tools.name, printed, result)
    wheel = _only_wheel(job, os.path.join(folder, "out"), name)
    works.built[wheel.filename] = wheel
    return wheel


def _names(job: Preparation, what: str) -> tuple[str, ...]:
    return ("scratch", os.path.basename(job.scratch), f"{what}-{len(os.listdir(job.scratch))}")


def _build_requirements(works: Works, name: str, source: Archive) -> tuple[str, ...]:
    """What the archive says it is built with; its own words, so parsed like a skill's."""
    from wardian import toml

    job, tools = works.job, works.tools
    place = store.laid_out([source], _names(job, "source"))
    folder = new_folder(job, "describe")
    os.mkdir(os.path.join(folder, ".tmp"), 0o700)
    room = installing(folder, BUILD, place, tools.shares, {})
    command = [*tools.program("backend"), f"{ARCHIVES}/{source.filename}"]
    result, printed = attempt(job, room, command)
    if result.exit_code != 0:
        raise failure(job, tools.name, printed, result)
    try:
        system = toml.loads(printed).get("build-system", {})
        asked = system.get("requires", DEFAULT)
        backend = str(system.get("build-backend", "setuptools"))
        more = ["wheel"] if backend.startswith("setuptools") and asked else []
        return checked([*asked, *more])
    except (ValueError, RecursionError, AttributeError, TypeError, UsageError) as error:
        raise PreparationError(
            f"{printable(name)} can't be built: {printable(str(error))}",
            hint="its pyproject.toml asks for packages that no index has",
        ) from None


def _only_wheel(job: Preparation, out: str, name: str) -> Archive:
    """The wheel that a build left, by descriptor; it must be the one that was to be built."""
    from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

    try:
        fd = os.open(out, FOLDER)
    except OSError:
        raise PreparationError(f"building {name} produced no wheel") from None
    try:
        for filename in os.listdir(fd):
            try:
                if parse_wheel_filename(filename)[0] == canonicalize_name(name):
                    return store.keep(fd, filename, _names(job, "wheel"))
            except InvalidWheelFilename:
                continue
    finally:
        os.close(fd)
    raise PreparationError(f"building {printable(name)} produced no wheel of it")
