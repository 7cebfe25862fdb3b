"""Node packages, from package.json to node_modules: locked, checked, fetched, installed by npm."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.descriptors import FOLDER
from wardian.runner.packages import cabinet, store
from wardian.runner.packages.contents import refuse_strange
from wardian.runner.packages.model import Archive, Preparation, PreparationError
from wardian.runner.packages.python import new_folder
from wardian.runner.packages.rooms import ARCHIVES, Room, fetching, installing, run
from wardian.runner.packages.specs import Package, lock_fault, read_lock
from wardian.sandbox.policy.policy import Share

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings

LOCK_BYTES = 24 << 20
CONTENT = "_cacache/content-v2"  # where npm looks for an archive whose hash it knows
NO_GIT = "/nonexistent/git"
AT_ONCE = 100


class Npm(NamedTuple):
    """How npm is started, and what must be seen for that."""

    command: tuple[str, ...]
    shares: tuple[Share, ...]
    folder: str  # where node is


def make(job: Preparation, node: str, npm: str) -> dict[str, Any]:
    """Make node_modules in ``job.path``; returns what is to be recorded of it."""
    from wardian.runner.indexes import npm_settings, origin

    tool = _npm(node, npm)
    settings = npm_settings(os.environ)
    lock = _locked(job, tool, settings)
    try:
        packages = read_lock(lock, frozenset(map(origin, settings.indexes)))
    except ValueError as error:
        raise PreparationError(
            str(error),
            hint="packages must come from a registry or as https tarballs; remove this one",
        ) from None
    scripts = sorted({one.name for one in packages if one.installs and not one.optional})
    if scripts and not job.build:
        job.say(
            f"wardian: not run: the install script of {', '.join(scripts[:5])}; to run it: --build"
        )
    archives = _fetched(job, tool, settings, [one for one in packages if one.fits])
    _install(job, tool, lock, archives)
    return {"archives": {place: archive.digest for place, archive in archives.items()}}


def _npm(node: str, npm: str) -> Npm:
    from wardian.sandbox.root.programs import find_program

    found = [find_program(program, os.environ) for program in (node, npm)]
    shares = {s.at: Share(s.path, s.at) for program in found for s in program.sources}
    start = found[0].path or node
    script = os.path.realpath(found[1].path or npm)
    words = (start, script) if script.endswith(".js") else (npm,)
    return Npm(words, tuple(shares.values()), os.path.dirname(start))


def _options(build: bool) -> list[str]:
    """On the command line, where no .npmrc of a package has a say."""
    options = ["--no-audit", "--no-fund", "--no-update-notifier", "--logs-max=0", "--omit=dev"]
    options += ["--lockfile-version=3", "--omit-lockfile-registry-resolved=false"]
    options += ["--install-links=false", "--workspaces=false"]
    return options if build else [*options, "--ignore-scripts", f"--git={NO_GIT}"]


# Fetch


def _locked(job: Preparation, tool: Npm, settings: Settings) -> bytes:
    """What npm chooses. It reads descriptions only: nothing is unpacked, and there is no git."""
    folder = new_folder(job, "lock")
    _write(folder, "package.json", job.needs.package_json or b"{}")
    if job.needs.package_lock is not None:
        why = lock_fault(job.needs.package_lock)
        if why:
            raise PreparationError(
                f"the skill's lock file is refused: {why}",
                hint="packages must come from a registry or as https tarballs; fix the lock file",
            )
        _write(folder, "package-lock.json", job.needs.package_lock)
    command = [*tool.command, "install", "--package-lock-only", *_options(build=False)]
    command += ["--offline"] if job.offline else []
    run(job, _room(job, tool, settings, folder), command, "npm")
    return cabinet.read_new(os.path.join(folder, "package-lock.json"), LOCK_BYTES)


def _room(job: Preparation, tool: Npm, settings: Settings, folder: str) -> Room:
    room = fetching(job, folder, settings, tool.shares)
    if len(tool.command) > 1:
        return room
    return room._replace(policy=room.policy.with_env({"PATH": tool.folder}))


def _fetched(
    job: Preparation, tool: Npm, settings: Settings, packages: Sequence[Package]
) -> dict[str, Archive]:
    """The archive of each place, from the store or fetched into it."""
    missing = {one.url: one for one in packages if _in_store(one) is None}
    if missing:
        folder = new_folder(job, "download")
        room = _room(job, tool, settings, folder)
        urls = list(missing)
        for start in range(0, len(urls), AT_ONCE):
            command = [*tool.command, "cache", "add", *_options(build=False)]
            command += ["--offline"] if job.offline else []
            run(job, room, [*command, "--", *urls[start : start + AT_ONCE]], "npm")
        fetched = _taken_in(folder, list(missing.values()))
    found = {}
    for one in packages:
        archive = _in_store(one) or fetched.get(one.url)
        if archive is None:
            raise PreparationError(
                f"{one.name} does not match the registry: no downloaded archive has its hash",
                hint="the registry or the lock file is wrong; nothing was installed",
            )
        found[one.place] = archive
    return found


def _in_store(one: Package) -> Archive | None:
    sha512 = dict(one.hashes).get("sha512")
    return store.find(store.NPM, sha512, f"{sha512}.tgz") if sha512 else None


def _taken_in(folder: str, packages: Sequence[Package]) -> dict[str, Archive]:
    """npm keeps what it fetched by its sha512; each file is hashed anew before it is believed."""
    content = os.path.join(folder, ".npm", CONTENT, "sha512")
    by_hash: dict[tuple[str, str], Archive] = {}
    weak = {h for one in packages for h in one.hashes if "sha512" not in dict(one.hashes)}
    for parent, name, digest in _contents(content):
        fd = os.open(parent, FOLDER)
        try:
            others = store.hashes_of(fd, name, {algorithm for algorithm, _ in weak})
            archive = store.take_in(store.NPM, fd, name, f"{digest}.tgz", [("sha512", digest)])
        finally:
            os.close(fd)
        by_hash |= dict.fromkeys((("sha512", digest), *others), archive)
    strongest = {one.url: one.hashes[-1] for one in packages if one.hashes}
    return {url: by_hash[best] for url, best in strongest.items() if best in by_hash}


def _contents(root: str) -> list[tuple[str, str, str]]:
    """Folder, name and claimed hash of each file in npm's cache, which npm alone wrote."""
    found = []
    for first in sorted(os.listdir(root)) if os.path.isdir(root) else ():
        for second in sorted(os.listdir(os.path.join(root, first))):
            folder = os.path.join(root, first, second)
            found += [(folder, name, first + second + name) for name in os.listdir(folder)]
    return found


# Install


def _install(job: Preparation, tool: Npm, lock: bytes, archives: dict[str, Archive]) -> None:
    names = ("scratch", os.path.basename(job.scratch), "archives")
    for archive in archives.values():
        first, second, rest = archive.digest[:2], archive.digest[2:4], archive.digest[4:]
        store.laid_out([archive], (*names, *CONTENT.split("/"), "sha512", first, second), rest)
    with cabinet.drawer(*names):
        place = cabinet.path_of(*names)
    _write(job.path, "package.json", job.needs.package_json or b"{}")
    _write(job.path, "package-lock.json", _with_hashes(lock, archives))
    os.mkdir(os.path.join(job.path, ".tmp"), 0o700)
    variables = {"npm_config_cache": ARCHIVES}
    room = installing(job.path, job.path, place, tool.shares, variables)
    path = dict(room.policy.set_env).get("PATH", "/usr/local/bin:/usr/bin:/bin")
    room = room._replace(policy=room.policy.with_env({"PATH": f"{tool.folder}:{path}"}))
    run(job, room, [*tool.command, "ci", "--offline", *_options(build=False)], "npm")
    if job.build:  # scripts only when npm has written all of its own files
        run(job, room, [*tool.command, "rebuild", "--offline", *_options(build=True)], "npm")
    cabinet.discard(os.path.join(job.path, ".tmp"))
    refuse_strange(job.path)
    _need_directory(os.path.join(job.path, "node_modules"))


def _need_directory(path: str) -> None:
    try:
        os.mkdir(path, 0o755)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise PreparationError("a package replaced node_modules with something else") from None


def _with_hashes(lock: bytes, archives: dict[str, Archive]) -> bytes:
    """The lock with the sha512 of each archive, by which npm finds it without a network."""
    document = json.loads(lock)
    for place, archive in archives.items():
        digest = base64.b64encode(bytes.fromhex(archive.digest)).decode()
        document["packages"][place]["integrity"] = f"sha512-{digest}"
    return json.dumps(document).encode()


def _write(folder: str, name: str, data: bytes) -> None:
    fd = os.open(folder, FOLDER)
    try:
        cabinet.write_new(fd, name, data, 0o644)
    finally:
        os.close(fd)
