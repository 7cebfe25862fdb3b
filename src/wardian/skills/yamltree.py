"""YAML as a tree of texts, lists and mappings with positions; nothing is ever constructed.

libyaml is asked for events only, so no tag can name a class and no alias can multiply:
both are refused as they appear. A plain ``1.0`` or ``yes`` stays the text that was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

MAX_DEPTH = 16
MAX_NODES = 20_000

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as it was written; ``kind`` is what YAML takes a bare one for: str, int, null …"""

    value: str
    line: int
    column: int
    kind: str = "str"


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list, block or flow."""

    items: tuple[Node, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in their order; ``repeated`` holds keys that stand a second time."""

    entries: tuple[tuple[Text, Node], ...]
    line: int
    column: int
    repeated: tuple[Text, ...] = ()


Node: TypeAlias = Text | Sequence | Mapping


class YamlError(Exception):
    """Where the source stops being acceptable; ``feature`` if it is
    refused, not malformed."""

    def __init__(self, message: str, line: int, column: int, *, feature: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.feature = message, line, column, feature


def parse(source: str, *, first_line: int = 1) -> Node | None:
    """The one document in ``source``, or None if it is empty; raises YamlError."""
    try:
        return _Builder(first_line).build(yaml.parse(source, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark is not None else (0, 0)
        why = error.problem or error.context or "malformed"
        raise YamlError(str(why), first_line + line, column + 1) from None
    except yaml.YAMLError as error:
        reason = str(getattr(error, "reason", None) or error).split("\n", 1)[0]
        raise YamlError(reason, first_line, 1) from None


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    event: Any
    children: list[Node]


class _Builder:
    """Turns events into a tree without recursion, so that depth costs nothing but a count."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._open: list[_Open] = []
        self._root: Node | None = None
        self._nodes = 0

    def build(self, events: Iterator[Any]) -> Node | None:
        documents = 0
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                self._node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close()
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(event, "a second YAML document starts here")
        return self._root

    def _node(self, event: Any) -> None:
        self._refuse_features(event)
        if isinstance(event, yaml.ScalarEvent):
            self._put(Text(event.value, *self._place(event), _kind(event)))
        else:
            self._open.append(_Open(event, []))

    def _refuse_features(self, event: Any) -> None:
        self._nodes += 1
        if isinstance(event, yaml.AliasEvent):
            raise self._error(event, f"alias *{event.anchor} is not allowed", feature=True)
        if event.anchor is not None:
            raise self._error(event, f"anchor &{event.anchor} is not allowed", feature=True)
        if event.tag is not None:
            raise self._error(event, f"tag {event.tag} is not allowed", feature=True)
        if len(self._open) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} deep", feature=True)
        if self._nodes > MAX_NODES:
            raise self._error(event, f"more than {MAX_NODES} values", feature=True)

    def _close(self) -> None:
        done = self._open.pop()
        line, column = self._place(done.event)
        if isinstance(done.event, yaml.SequenceStartEvent):
            self._put(Sequence(tuple(done.children), line, column))
            return
        entries: dict[str, tuple[Text, Node]] = {}
        repeated: list[Text] = []
        for key, value in zip(done.children[::2], done.children[1::2], strict=True):
            if not isinstance(key, Text):
                raise YamlError("a key must be text", key.line, key.column, feature=True)
            if key.kind == "merge":
                raise YamlError("merge key << is not allowed", key.line, key.column, feature=True)
            if key.value in entries:
                repeated.append(key)
            entries.setdefault(key.value, (key, value))
        self._put(Mapping(tuple(entries.values()), line, column, tuple(repeated)))

    def _put(self, node: Node) -> None:
        if self._open:
            self._open[-1].children.append(node)
        else:
            self._root = node

    def _place(self, event: Any) -> tuple[int, int]:
        return self._first_line + event.start_mark.line, event.start_mark.column + 1

    def _error(self, event: Any, message: str, *, feature: bool = False) -> YamlError:
        return YamlError(message, *self._place(event), feature=feature)


def _kind(event: Any) -> str:
    if event.style not in (None, ""):
        return "str"
    value = event.value
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(value[:1], ()):
        if pattern.match(value):
            return str(tag).rsplit(":", 1)[-1]
    return "str"
