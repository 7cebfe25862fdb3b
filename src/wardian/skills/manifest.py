"""SKILL.md as fields: read as leniently as clients read it, with every broken rule recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wardian.skills import specification, yamltree
from wardian.skills.diagnostic import Diagnostic, UnreadableError, finding
from wardian.skills.frontmatter import Document, split


@dataclass(frozen=True, slots=True)
class Manifest:
    """A SKILL.md that could be read; a field is None where it is absent or unusable."""

    name: str | None
    description: str | None
    license: str | None
    compatibility: str | None
    metadata: Mapping[str, str]
    allowed_tools: tuple[str, ...]
    other: Mapping[str, str]
    body: str
    body_line: int
    diagnostics: tuple[Diagnostic, ...]


def read(text: str, path: str, folder: str | None = None) -> Manifest:
    """The manifest in ``text``; ``folder`` is the name the skill's directory has, if it has one.

    Raises UnreadableError when no mapping of fields can be had from it.
    """
    document = split(text, path)
    tree, found = _fields(document, path)
    values = {key.value: value for key, value in tree.entries}
    if document.byte_order_mark:
        found.append(
            finding(
                "byte-order-mark",
                "the file starts with a byte order mark, which some clients read as text",
                path,
                1,
                1,
            )
        )
    found += [
        finding("duplicate-key", f"`{key.value}` appears twice", path, key.line, key.column)
        for key in _repeated(tree)
    ]
    found += specification.judge(tree, path, folder)
    metadata = values.get("metadata")
    return Manifest(
        name=specification.text_of(values.get("name")),
        description=specification.text_of(values.get("description")),
        license=specification.text_of(values.get("license")),
        compatibility=specification.text_of(values.get("compatibility")),
        metadata=_texts(metadata.entries if isinstance(metadata, yamltree.Mapping) else ()),
        allowed_tools=_tools(values.get("allowed-tools")),
        other=_texts(
            (key, value) for key, value in tree.entries if key.value not in specification.FIELDS
        ),
        body=document.body,
        body_line=document.body_line,
        diagnostics=tuple(sorted(found, key=lambda one: (one.line or 0, one.code))),
    )


def _fields(document: Document, path: str) -> tuple[yamltree.Mapping, list[Diagnostic]]:
    found: list[Diagnostic] = []
    try:
        tree = yamltree.parse(document.yaml, first_line=document.yaml_line)
    except yamltree.YamlError as error:
        quoted = None if error.feature else _with_colons_quoted(document.yaml)
        if quoted is None:
            raise UnreadableError(_yaml_finding(error, path)) from None
        try:
            tree = yamltree.parse(quoted, first_line=document.yaml_line)
        except yamltree.YamlError:
            raise UnreadableError(_yaml_finding(error, path)) from None
        found.append(
            finding(
                "unquoted-colon",
                "a value holds a colon and is not quoted; strict clients skip this skill",
                path,
                error.line,
                error.column,
                hint="put the whole value in quotes",
            )
        )
    if not isinstance(tree, yamltree.Mapping):
        line = document.yaml_line if tree is None else tree.line
        raise UnreadableError(
            finding("not-a-mapping", "the frontmatter is not a mapping of fields", path, line)
        )
    return tree, found


def _yaml_finding(error: yamltree.YamlError, path: str) -> Diagnostic:
    rule = "yaml-feature" if error.feature else "yaml"
    message = error.message if error.feature else f"not YAML: {error.message}"
    return finding(rule, message, path, error.line, error.column)


_FIELD_LINE = re.compile(r"^([A-Za-z][\w-]*:[ \t]+)([^\s\"'|>\[{&*!#%@`].*)$", re.DOTALL)


def _with_colons_quoted(source: str) -> str | None:
    """``source`` with bare top-level values that hold a colon in quotes, or None if none does."""
    blocks: list[list[str]] = []
    for line in source.split("\n"):
        if blocks and (line[:1] in (" ", "\t") or not line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    changed = False
    for index, block in enumerate(blocks):
        match = _FIELD_LINE.match("\n".join(block))
        if match is None or not re.search(r":(\s|$)", match[2]):
            continue
        value = match[2].rstrip()
        rest = match[2][len(value) :]
        blocks[index] = [match[1] + "'" + value.replace("'", "''") + "'" + rest]
        changed = True
    return "\n".join(line for block in blocks for line in block) if changed else None


def _repeated(node: yamltree.Node) -> Iterator[yamltree.Text]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, yamltree.Mapping):
            yield from here.repeated
            waiting.extend(value for _, value in here.entries)
        elif isinstance(here, yamltree.Sequence):
            waiting.extend(here.items)


def _tools(node: yamltree.Node | None) -> tuple[str, ...]:
    if isinstance(node, yamltree.Text):
        return _words(node.value)
    if isinstance(node, yamltree.Sequence):
        return tuple(item.value for item in node.items if isinstance(item, yamltree.Text))
    return ()


# "Bash(git add:*) Read": a pattern in parentheses may hold spaces.
_TOOL = re.compile(r"[^\s(,]+(?:\([^)]*\)?)?")


def _words(value: str) -> tuple[str, ...]:
    return tuple(_TOOL.findall(value))


def _texts(
    entries: Iterable[tuple[yamltree.Text, yamltree.Node]],
) -> Mapping[str, str]:
    return MappingProxyType(
        {key.value: value.value for key, value in entries if isinstance(value, yamltree.Text)}
    )
