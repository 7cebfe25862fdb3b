"""SCRIPT as people give it: a file of the skill, and the interpreter it asks for."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from wardian.descriptors import FILE
from wardian.errors import SkillError, UsageError

HEAD_BYTES = 8192
SOURCE_BYTES = 1 << 20
FOLDER = "scripts"
PLUGIN_INSIDE = "/plugin/"


class Wish(NamedTuple):
    """What a script asks to be run by; ``version`` is ``3.12`` or ``>=22.18``."""

    name: str
    version: str | None = None
    options: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """A script: ``path`` is relative to the skill, ``module`` set when it was named as one.
    One of the plugin's own has a path that starts with ``../``, and lies in ``plugin``."""

    path: str
    wish: Wish
    head: bytes
    executable: bool
    module: str | None = None
    plugin: str | None = None


def choose(skill: str, given: str, plugin: str | None = None) -> Chosen:
    """The script that ``given`` names in the directory ``skill``, or with ``..`` in its plugin.

    Raises UsageError if there is none, with what comes near, and SkillError if nothing runs it.
    """
    path, module = _find(skill, given, plugin)
    within = plugin if plugin is not None and path.startswith("../") else None
    head, mode = _read(skill, path, given, within=within)
    wish = wish_of(path, head)
    if wish is None:
        raise SkillError(
            "no interpreter is known for this file",
            path=path,
            hint="add a shebang that names its interpreter, such as #!/usr/bin/env python3",
        )
    return Chosen(path, wish, head, bool(mode & 0o111), module, within)


def every_script(skill: str) -> list[Chosen]:
    """All scripts of a skill that something known runs."""
    from pathlib import Path

    from wardian.skills.reading import read_bytes
    from wardian.skills.scripts import scripts_in

    found = []
    for script in scripts_in(Path(skill)):
        if script.interpreter is not None:
            about = script.interpreter
            head = read_bytes(Path(skill, script.path), HEAD_BYTES, truncate=True)
            wish = Wish(about.name, about.version, about.options)
            found.append(Chosen(script.path, wish, head, script.executable))
    return found


def source_of(skill: str, script: Chosen) -> bytes:
    """The whole text, or its first MiB; the head is enough for most."""
    if len(script.head) < HEAD_BYTES:
        return script.head
    return _read(skill, script.path, script.path, SOURCE_BYTES, within=script.plugin)[0]


def wish_of(path: str, head: bytes) -> Wish | None:
    """As ``wardian.skills.interpreter_of`` decides; usual cases without loading it."""
    quick = _usual(path, head)
    if quick is not None:
        return quick
    from wardian.skills.scripts import interpreter_of

    found = interpreter_of(path, head)
    return Wish(found.name, found.version, found.options) if found is not None else None


# Programs as shebangs name them → interpreter and version.
_USUAL = {
    "python3": ("python", "3"),
    "python": ("python", None),
    "bash": ("bash", None),
    "sh": ("sh", None),
    "node": ("node", None),
}
_USUAL_EXTENSIONS = {
    ".py": "python",
    ".bash": "bash",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
}


def _usual(path: str, head: bytes) -> Wish | None:
    if not head.startswith(b"#!"):
        name = _USUAL_EXTENSIONS.get(os.path.splitext(path)[1])
        return Wish(name) if name is not None else None
    words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if words and words[0].endswith("/env"):
        del words[0]
    if len(words) != 1 or words[0].startswith("-"):
        return None
    known = _USUAL.get(os.path.basename(words[0]))
    return Wish(*known) if known is not None else None


def _find(skill: str, given: str, plugin: str | None) -> tuple[str, str | None]:
    name = given.removeprefix("/skill/")
    if name.startswith(skill + "/"):
        name = name[len(skill) + 1 :]
    if plugin is not None:
        name = _in_plugin(skill, name, plugin)
    elif name.startswith("/") or "\0" in name or ".." in name.split("/"):
        raise UsageError(f"{given!r} is not a path inside the skill")
    for candidate in (name,) if name.startswith("../") else (name, f"{FOLDER}/{name}"):
        if os.path.isfile(os.path.join(skill, candidate)):
            return os.path.normpath(candidate), None
    if "." in name and "/" not in name:
        candidate = name.replace(".", "/") + ".py"
        if os.path.isfile(os.path.join(skill, candidate)):
            return candidate, name
    raise _no_such(skill, given)


def _in_plugin(skill: str, name: str, plugin: str) -> str:
    """A path from the skill, also for one from its plugin. Raises UsageError if it is neither's."""
    for prefix in (PLUGIN_INSIDE, "$CLAUDE_PLUGIN_ROOT/", "${CLAUDE_PLUGIN_ROOT}/"):
        if name.startswith(prefix):
            name = os.path.join(plugin, name[len(prefix) :])
    path = os.path.normpath(os.path.join(skill, name))
    if "\0" in name or not path.startswith(plugin.rstrip("/") + "/"):
        raise UsageError(f"{name!r} is not a path inside the skill or its plugin")
    return os.path.relpath(path, skill)


def _no_such(skill: str, given: str) -> UsageError:
    import difflib
    from pathlib import Path

    from wardian.skills.scripts import scripts_in

    paths = [script.path for script in scripts_in(Path(skill)) if script.interpreter is not None]
    if not paths:
        return UsageError(f"there is no script {given!r}: this skill has none")
    by_word = {path: path for path in paths}
    for path in paths:
        for word in (path.removeprefix(f"{FOLDER}/"), os.path.basename(path)):
            by_word.setdefault(word, path)
            by_word.setdefault(os.path.splitext(word)[0], path)
    near = difflib.get_close_matches(given, list(by_word), 1, 0.6)
    if near:
        return UsageError(
            f"there is no script {given!r} in this skill", hint=f"did you mean {by_word[near[0]]}?"
        )
    shown = ", ".join(paths[:10]) + (", …" if len(paths) > 10 else "")
    return UsageError(f"there is no script {given!r} in this skill", hint=f"it has: {shown}")


def _read(
    skill: str, path: str, given: str, limit: int = HEAD_BYTES, *, within: str | None = None
) -> tuple[bytes, int]:
    """The first bytes and the mode of a file that lies, links resolved, inside the skill, or inside
    the plugin that ``within`` is the root of."""
    real = os.path.realpath(os.path.join(skill, path))
    if not real.startswith((within or skill).rstrip("/") + "/"):
        whole = "plugin" if within is not None else "skill"
        raise SkillError(f"it is a link that leads out of the {whole}", path=given)
    fd = -1
    try:
        fd = os.open(real, FILE)
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise SkillError("it is not a regular file", path=given)
        data = b""
        while len(data) < limit and (piece := os.read(fd, limit - len(data))):
            data += piece
        return data, mode
    except OSError as error:
        raise SkillError((error.strerror or "it can't be read").lower(), path=given) from None
    finally:
        if fd >= 0:
            os.close(fd)
