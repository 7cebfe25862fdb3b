"""The specification's rules for the fields of a SKILL.md, each a pure function of its node."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from wardian.skills import yamltree
from wardian.skills.diagnostic import Diagnostic, finding

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500

# Fields that one client or another has added; named so that the finding can say so.
_CLIENT_FIELDS = frozenset((
    "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "model",
    "version", "hooks", "context", "agent", "author", "tags", "when_to_use", "paths", "effort",
    "shell",
))  # fmt: skip


def judge(tree: yamltree.Mapping, path: str, folder: str | None) -> Iterator[Diagnostic]:
    """Every rule that the fields in ``tree`` break; ``folder`` is the name that ``name`` owes."""
    values = {key.value: value for key, value in tree.entries}
    for key, _ in tree.entries:
        if key.value not in FIELDS:
            yield _unknown(key, path)
    yield from _name(values.get("name"), path, folder)
    yield from _description(values.get("description"), path)
    yield from _compatibility(values.get("compatibility"), path)
    license_ = values.get("license")
    if license_ is not None and not isinstance(license_, yamltree.Text):
        yield finding("license-kind", "`license` must be text", path, license_.line)
    yield from _tools(values.get("allowed-tools"), path)
    yield from _metadata(values.get("metadata"), path)
    for field in ("name", "description", "license", "compatibility"):
        yield from _bare(field, values.get(field), path)


def _unknown(key: yamltree.Text, path: str) -> Diagnostic:
    known = key.value in _CLIENT_FIELDS
    message = f"`{key.value}` is not a field of the specification"
    if known:
        message += ", though some clients read it"
    hint = "put it under `metadata`" if known else f"the fields are: {', '.join(FIELDS)}"
    return finding("unknown-field", message, path, key.line, key.column, hint=hint)


def _name(node: yamltree.Node | None, path: str, folder: str | None) -> Iterator[Diagnostic]:
    if node is None:
        yield finding("no-name", "`name` is missing", path, 1)
        return
    written = text_of(node)
    if written is None:
        yield finding("name-kind", "`name` must be text", path, node.line, node.column)
        return
    name = unicodedata.normalize("NFKC", written)
    here = (path, node.line, node.column)
    if len(name) > MAX_NAME:
        yield finding("name-length", f"`name` has {len(name)} of {MAX_NAME} characters", *here)
    if name != name.lower():
        yield finding("name-case", f"name {name!r} is not lower case", *here, hint=name.lower())
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield finding(
            "name-hyphens",
            f"name {name!r} starts or ends with a hyphen, or has two in a row",
            *here,
        )
    odd = sorted({character for character in name if not (character.isalnum() or character == "-")})
    if odd:
        shown = " ".join(map(repr, odd[:8]))
        yield finding("name-characters", f"`name` may not hold {shown}", *here)
    if folder is not None and unicodedata.normalize("NFKC", folder) != name:
        yield finding(
            "name-folder",
            f"name {name!r} differs from the folder's, {folder!r}",
            *here,
            hint=f"rename the folder to {name}, or the skill to {folder}",
        )


def _description(node: yamltree.Node | None, path: str) -> Iterator[Diagnostic]:
    if node is None:
        yield finding("no-description", "`description` is missing", path, 1)
    elif text_of(node) is None:
        yield finding("description-kind", "`description` must be text", path, node.line)
    elif isinstance(node, yamltree.Text) and len(node.value) > MAX_DESCRIPTION:
        message = f"`description` has {len(node.value)} of {MAX_DESCRIPTION} characters"
        yield finding("description-length", message, path, node.line, node.column)


def _compatibility(node: yamltree.Node | None, path: str) -> Iterator[Diagnostic]:
    if node is None:
        return
    if not isinstance(node, yamltree.Text):
        yield finding("compatibility-kind", "`compatibility` must be text", path, node.line)
    elif not node.value.strip():
        yield finding("compatibility-empty", "`compatibility` is empty", path, node.line)
    elif len(node.value) > MAX_COMPATIBILITY:
        message = f"`compatibility` has {len(node.value)} of {MAX_COMPATIBILITY} characters"
        yield finding("compatibility-length", message, path, node.line, node.column)


def _tools(node: yamltree.Node | None, path: str) -> Iterator[Diagnostic]:
    if node is None or isinstance(node, yamltree.Text):
        return
    texts = isinstance(node, yamltree.Sequence) and all(
        isinstance(item, yamltree.Text) for item in node.items
    )
    if texts:
        yield finding(
            "tools-list",
            "`allowed-tools` is a list; the specification has a space-separated text",
            path,
            node.line,
        )
    else:
        yield finding("tools-kind", "`allowed-tools` must be text", path, node.line)


def _metadata(node: yamltree.Node | None, path: str) -> Iterator[Diagnostic]:
    if node is None or (isinstance(node, yamltree.Text) and not node.value):
        return
    if not isinstance(node, yamltree.Mapping):
        yield finding("metadata-kind", "`metadata` must be a mapping", path, node.line)
        return
    for key, value in node.entries:
        if isinstance(value, yamltree.Text):
            yield from _bare(f"metadata.{key.value}", value, path)
        else:
            message = f"`metadata.{key.value}` must be text"
            yield finding("metadata-value", message, path, value.line, value.column)


def _bare(field: str, node: yamltree.Node | None, path: str) -> Iterator[Diagnostic]:
    if isinstance(node, yamltree.Text) and node.kind not in ("str", "null"):
        yield finding(
            "bare-value",
            f"many clients read `{field}` as a {node.kind}, not as text",
            path,
            node.line,
            node.column,
            hint="quote it",
        )


def text_of(node: yamltree.Node | None) -> str | None:
    """The stripped text of a node, or None if it is absent, empty, null or no text."""
    if not isinstance(node, yamltree.Text) or node.kind == "null":
        return None
    return node.value.strip() or None
