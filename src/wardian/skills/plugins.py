"""Plugins of a clone, as its ``.claude-plugin`` files name them: data of strangers, bounded, and
nothing of it leads out of the clone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wardian.skills.clones import PLUGIN_FOLDER
from wardian.skills.folders import is_skill_folder
from wardian.skills.reading import read_inside

MARKETPLACE = f"{PLUGIN_FOLDER}/marketplace.json"
MANIFEST = f"{PLUGIN_FOLDER}/plugin.json"
MAX_BYTES = 4 << 20
MAX_PLUGINS = 2_000
# What a source has that must be fetched first.
_REMOTE = ("url", "repo", "package")


@dataclass(frozen=True, slots=True)
class Plugin:
    """``root`` is a real directory at or below the top of its clone. ``places`` are skill folders,
    or folders of them; ``named_by`` is the file that names the plugin, relative to the top."""

    name: str
    root: Path
    places: tuple[Path, ...]
    named_by: str


def plugins_of(top: Path) -> list[Plugin]:
    """The plugins that the files at the top of a clone name: a marketplace's, or the one it is.

    What can't be read names none.
    """
    real = Path(os.path.realpath(top))
    found = list(_marketplace(real))
    own = _document(real, MANIFEST)
    if own is not None:
        name = own.get("name")
        places = _places(real, real, own, only_named=False)
        found.append(Plugin(name if isinstance(name, str) else real.name, real, places, MANIFEST))
    return found


def _marketplace(top: Path) -> Iterator[Plugin]:
    document = _document(top, MARKETPLACE) or {}
    entries = document.get("plugins")
    metadata = document.get("metadata")
    base = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    for entry in entries[:MAX_PLUGINS] if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        root = _source(top, entry.get("source", "."), base)
        name = entry.get("name")
        if root is None:
            continue
        named = isinstance(entry.get("skills"), list | str)
        places = _places(top, root, entry, only_named=named)
        own = _document(top, os.path.join(os.path.relpath(root, top), MANIFEST))
        if own is not None and not named:
            places = tuple(dict.fromkeys((*places, *_places(top, root, own, only_named=True))))
        yield Plugin(name if isinstance(name, str) else root.name, root, places, MARKETPLACE)


def _source(top: Path, source: Any, base: Any) -> Path | None:
    """The plugin's directory, if it is there and in the clone."""
    if isinstance(source, dict) and not any(key in source for key in _REMOTE):
        source = source.get("path", source.get("source"))
    if not isinstance(source, str):
        return None
    found = _directory(top, top, source)
    if found is None and isinstance(base, str):
        found = _directory(top, top, os.path.join(base, source))
    return found


def _places(
    top: Path, root: Path, document: dict[str, Any], *, only_named: bool
) -> tuple[Path, ...]:
    wanted = document.get("skills")
    texts = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    named = [text for text in texts[:MAX_PLUGINS] if isinstance(text, str)]
    if not only_named:
        named.append("skills")
        if root != top and is_skill_folder(root):
            named.append(".")  # a plugin that is one skill
    found = [_directory(top, root, text) for text in named]
    return tuple(dict.fromkeys(place for place in found if place is not None))


def _directory(top: Path, base: Path, text: str) -> Path | None:
    """The real directory that a text of strangers names from ``base``; None unless it is at or
    below ``top``."""
    if "\0" in text or text.startswith(("/", "~")):
        return None
    try:
        real = Path(os.path.realpath(base / text))
        return real if real.is_relative_to(top) and os.path.isdir(real) else None
    except (OSError, ValueError):
        return None  # a name that is too long, or not one


def _document(top: Path, path: str) -> dict[str, Any] | None:
    try:
        document = json.loads(read_inside(str(top), path, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
