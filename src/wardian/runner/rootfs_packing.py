"""A skill with all that it needs as a root file system in a tar: ``wardian pack --rootfs``.

Programs and libraries are those of this host, found by reading files. Only a Python of the host
is started, to be asked where it keeps its standard library; nothing of the skill is.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.errors import SandboxError
from wardian.runner.elf import read_elf
from wardian.runner.image import Image, placed
from wardian.runner.script import every_script
from wardian.sandbox.root.shares import is_below

if TYPE_CHECKING:
    from wardian.runner.needs import Needs
    from wardian.runner.script import Chosen

SUFFIX = ".rootfs.tar"
SHELLS = ("sh", "bash")
SYSTEM_PATH = "/bin:/usr/bin"
# Interpreters that are one program and its libraries.
SINGLE = ("node", "deno", "bun")
_ASK_PYTHON = """
import json, os, site, sys
try:
    import ssl
    cafile = ssl.get_default_verify_paths().openssl_cafile
except ImportError:
    cafile = None
program = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
print(json.dumps({"program": program, "prefix": sys.base_prefix,
    "library": os.path.dirname(os.__file__), "version": "%d.%d" % sys.version_info[:2],
    "packages": site.getsitepackages([sys.base_prefix])[0], "cafile": cafile}))
"""


class PackedRootfs(NamedTuple):
    """``missing`` lists, in words, what the skill needs and the tar lacks."""

    path: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...]
    interpreters: tuple[str, ...]
    missing: tuple[str, ...]
    size: int
    sha256: str


def pack_rootfs(
    directory: Path, output: Path | None = None, *, say: Callable[[str], None]
) -> PackedRootfs:
    """Pack the skill in ``directory``; without ``output`` into NAME.rootfs.tar where we are.

    Raises SkillError as ``wardian.skills.pack`` does, and SandboxError if packages that the skill
    declares can't be prepared, or the file can't be written.
    """
    image, about = Image(), _settings()
    real = directory.resolve()
    image.admit(str(real))
    output = output or Path(f"{real.name}{SUFFIX}")
    left_out = _add_skill(image, directory, output)
    _add_base(image, about)
    brought = _add_interpreters(image, about, str(real), say)
    try:
        size = image.write(os.fspath(output))
        with output.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SandboxError(
            f"{error.filename or output}: {(error.strerror or '').lower()}"
        ) from None
    missing = tuple(dict.fromkeys(image.missing))
    return PackedRootfs(
        output, tuple(sorted(image.members)), left_out, brought, missing, size, digest
    )


def _settings() -> dict[str, Any]:
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "rootfs.toml"), "rb") as file:
        return tomllib.load(file)


def _add_skill(image: Image, directory: Path, output: Path) -> tuple[str, ...]:
    """Exactly what a .skill of it would hold."""
    from wardian.skills.archive import pack

    with tempfile.TemporaryDirectory(prefix="wardian-") as folder:
        packed = pack(directory, Path(folder, "a.skill"))
        with zipfile.ZipFile(packed.path) as archive:
            for info in archive.infolist():
                name = info.filename.partition("/")[2]
                if os.path.realpath(directory / name) == os.path.realpath(output):
                    continue
                executable = bool(info.external_attr >> 16 & 0o111)
                image.data(f"skill/{name}", archive.read(info), executable=executable)
    return packed.left_out


def _add_base(image: Image, about: dict[str, Any]) -> None:
    from wardian.sandbox.root.programs import on_path

    for name in about["always"]:
        path = on_path(name, {"PATH": SYSTEM_PATH})
        if path is None:
            image.missing.append(f"{name}, which is not on this host")
        else:
            image.program(name, path)
            for wanted in about["libraries"]:
                image.library(wanted, os.path.realpath(path))
    for path in about["locales"]:
        image.tree(placed(path), path, lambda name: True)


def _add_interpreters(
    image: Image, about: dict[str, Any], skill: str, say: Callable[[str], None]
) -> tuple[str, ...]:
    scripts = every_script(skill)
    kinds = {script.wish.name for script in scripts}
    brought = {"sh"} | _add_tools(image, about, kinds)
    for kind in sorted(kinds & {*SINGLE}):
        brought |= _add_single(image, kind)
    if "python" in kinds:
        brought |= _add_python(
            image, about, [s for s in scripts if s.wish.name == "python"], skill, say
        )
    if kinds & {*SINGLE}:
        _add_modules(image, [s for s in scripts if s.wish.name in SINGLE], skill, say)
    for script in scripts:
        if script.wish.name == "elf":
            image.add_needs(os.path.join(skill, script.path))
    for kind in sorted(kinds - {"python", "elf", *SHELLS, *SINGLE}):
        names = ", ".join(script.path for script in scripts if script.wish.name == kind)
        image.missing.append(f"{kind}, which is never included, for {names}")
    return tuple(sorted(brought))


def _add_tools(image: Image, about: dict[str, Any], kinds: set[str]) -> set[str]:
    from wardian.sandbox.root.programs import on_path

    system = {"PATH": SYSTEM_PATH}
    for name in about["tools"]:
        path = on_path(name, system)
        if path is not None:
            image.program(name, path)
    if "usr/bin/bash" in image.members:
        return {"bash"}
    if "bash" in kinds:
        image.missing.append("bash, which is not on this host")
    return set()


def _add_single(image: Image, kind: str) -> set[str]:
    from wardian.sandbox.root.programs import on_path

    path = on_path(kind, os.environ)
    if path is None:
        image.missing.append(f"{kind}, which is not on this host")
        return set()
    if read_elf(path) is None:
        image.missing.append(f"{kind}: {path} can't be included")
        return set()
    image.admit(path)
    image.program(kind, path)
    return {kind}


# Python


def _add_python(
    image: Image,
    about: dict[str, Any],
    scripts: list[Chosen],
    skill: str,
    say: Callable[[str], None],
) -> set[str]:
    from wardian.runner import pythons
    from wardian.runner.needs import Needs, needs_of
    from wardian.runner.whole_skill import united_python

    found_needs = [one for script in scripts for one in needs_of(skill, script)]
    needs = united_python(found_needs) or Needs()
    wishes = {script.wish.version for script in scripts} | {needs.requires_python}
    wish = ",".join(sorted(filter(None, wishes))) or "3"
    found = pythons.find(wish, os.environ)
    if found is None:
        image.missing.append(f"Python {wish}, which is not on this host")
        return set()
    facts = _facts_of(found.path)
    prefix, library = facts["prefix"].rstrip("/"), facts["library"]
    _admit_python(image, facts)

    def inside(path: str) -> str:
        # Python finds its library by where its program lies, so that any prefix can become /usr.
        return f"usr/{os.path.relpath(path, prefix)}" if prefix else placed(path)

    name = f"python{facts['version']}"
    image.file(f"usr/bin/{name}", facts["program"])
    image.link("usr/bin/python3", name)
    image.link("usr/bin/python", name)
    image.tree(inside(library), library, lambda one: not _matches(one, about["python"]["without"]))
    _add_certificates(image, about, facts["cafile"])
    if needs.python:
        packages = _prepared_packages(image, needs, wish, say)
        image.tree(inside(facts["packages"]), packages, lambda one: one != "__pycache__")
    return {name}


def _admit_python(image: Image, facts: dict[str, Any]) -> None:
    """Its program, and its prefix if that is an installation and nothing wider. Raises
    SandboxError."""
    prefix = os.path.realpath(facts["prefix"] or "/")
    library = f"{prefix}/lib/python{facts['version']}"
    if not is_below(os.path.realpath(facts["library"]), prefix):
        raise SandboxError(f"{facts['program']} keeps its library outside of {prefix}")
    if prefix == "/usr":
        image.admit(f"/etc/python{facts['version']}")  # Debian keeps sitecustomize.py there
        return
    homes = {os.path.realpath(os.path.expanduser("~")), "/", "/home", "/root", "/opt", "/etc"}
    if prefix in homes or not os.path.isfile(f"{library}/os.py"):
        raise SandboxError(f"{prefix} is not an installation of Python")
    image.admit(library)
    image.admit(facts["program"])
    for name in os.listdir(f"{prefix}/lib"):
        if name.startswith("lib") and ".so" in name:  # libpython, and what conda brings
            image.admit(f"{prefix}/lib/{name}")


def _matches(name: str, patterns: list[str]) -> bool:
    return any(
        name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns
    ) or name.endswith(".a")


def _facts_of(python: str) -> dict[str, Any]:
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.sandbox import Sandbox

    policy = Policy.default().with_limits(time_s=60.0)
    with Sandbox(policy, private_work=True) as sandbox:
        asked = sandbox.run([python, "-I", "-c", _ASK_PYTHON])
    try:
        facts: dict[str, Any] = json.loads(asked.stdout)
    except ValueError:
        raise SandboxError(f"{python} does not start here") from None
    return facts


def _add_certificates(image: Image, about: dict[str, Any], cafile: str | None) -> None:
    bundle = next((one for one in about["certificates"] if os.path.isfile(one)), None)
    if cafile is None or bundle is None:
        return
    image.admit(bundle)
    image.file(about["certificates"][0].lstrip("/"), bundle)
    if cafile.startswith(("/usr/", "/etc/")) and placed(cafile) not in image.members:
        image.link(placed(cafile), about["certificates"][0])


def _prepared_packages(image: Image, needs: Needs, wish: str, say: Callable[[str], None]) -> str:
    from wardian.runner.packages import prepare
    from wardian.runner.script import Wish

    made = prepare(needs, Wish("python", wish), say=say)
    if made is None or made.python is None:
        raise SandboxError("the packages that the skill declares could not be prepared")
    root = os.path.dirname(os.path.dirname(made.python))
    found = sorted(Path(root, "lib").glob("python3*/site-packages"))
    if not found:
        raise SandboxError(f"{root} has no packages in it")
    if not is_below(os.path.realpath(found[0]), os.path.realpath(root)):
        raise SandboxError(f"{found[0]} leads out of the environment")
    image.admit(str(found[0]))
    return str(found[0])


# Node


def _add_modules(
    image: Image, scripts: list[Chosen], skill: str, say: Callable[[str], None]
) -> None:
    """Packages go where Node looks last, /node_modules; one declaration has room there."""
    from wardian.runner.needs import needs_of
    from wardian.runner.packages import prepare

    wanted: dict[Needs, Chosen] = {}
    for script in scripts:
        wanted |= {needs: script for needs in needs_of(skill, script) if not needs.empty}
    for number, (needs, script) in enumerate(sorted(wanted.items(), key=lambda one: one[1].path)):
        if number:
            image.missing.append(
                f"the packages of {script.path}: packages of another declaration take their place"
            )
            continue
        made = prepare(needs, script.wish, say=say)
        if made is not None and made.node_modules is not None:
            image.admit(made.node_modules)
            image.tree("node_modules", made.node_modules, lambda one: one != ".bin")
