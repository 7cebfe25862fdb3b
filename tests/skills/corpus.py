"""SKILL.md files by the hundred: every rule at, below and above its edge, and odd YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One file in a folder; ``label`` names it in the list of reasoned differences."""

    label: str
    content: bytes
    folder: str = "my-skill"


def cases() -> list[Case]:
    """The whole corpus, in a fixed order, with unique labels."""
    found = [*_names(), *_descriptions(), *_optional(), *_fields(), *_fences(), *_yaml(), *_bytes()]
    labels = [case.label for case in found]
    assert len(labels) == len(set(labels)), "labels must be unique"
    return found


def _text(*lines: str, body: str = "\nDo it.\n") -> bytes:
    return ("---\n" + "\n".join(lines) + "\n---\n" + body).encode()


NAMES = {
    "plain": "my-skill", "one-letter": "a", "digits": "123", "digit-first": "3d-tools",
    "64": "a" * 64, "65": "a" * 65, "128": "b" * 128, "63-hyphen": "a" * 31 + "-" + "b" * 32,
    "upper": "My-Skill", "upper-last": "my-skilL", "hyphen-first": "-skill",
    "hyphen-last": "skill-", "hyphen-only": "x-", "double": "my--skill", "triple": "my---skill",
    "underscore": "my_skill", "space": "my skill", "dot": "my.skill", "plus": "c++",
    "at": "me@home", "umlaut": "größe", "umlaut-nfd": "gro\u0308sse", "cyrillic": "навык",
    "cyrillic-upper": "Навык", "chinese": "技能", "arabic": "مهارة", "thai": "ทักษะ",
    "hindi": "कौशल", "emoji": "skill-🚀", "full-width": "ｓｋｉｌｌ", "ligature": "ﬁle",
    "roman": "ⅳ", "superscript": "x²", "circled": "①", "dotless": "ı", "dotted": "İ",
    "sharp-s": "ß", "kelvin": "\u212a", "arabic-digits": "٣٤", "combining-only": "a\u0301",
    "zero-width": "a\u200bb", "soft-hyphen": "a\u00adb", "non-breaking-hyphen": "a\u2011b",
    "en-dash": "a–b", "slash": "a/b", "tilde": "a~b", "comma": "a,b", "exclamation": "wow!",
    "kana": "スキル", "hangul": "기술", "hangul-jamo": "\u1100\u1161", "greek": "δεξιότητα",
    "final-sigma": "σς", "title-case": "ǅ", "georgian": "უნარი", "64-wide": "技" * 64,
    "65-wide": "技" * 65, "ohm": "\u2126", "half-kana": "ｶ", "vulgar-half": "½",
}  # fmt: skip


def _names() -> Iterator[Case]:
    for label, name in NAMES.items():
        if "/" not in name:
            yield Case(f"name-{label}", _text(f"name: {name}", "description: d"), name[:80])
        yield Case(f"name-{label}-quoted", _text(f'name: "{name}"', "description: d"), "my-skill")
    for label, written in {
        "empty": "name:", "empty-quotes": "name: ''", "blank-quotes": "name: '   '",
        "padded": "name: '  my-skill  '", "tilde": "name: ~", "null": "name: null",
        "list": "name:\n  - my-skill", "map": "name:\n  a: b", "int": "name: 42",
        "float": "name: 1.5", "bool": "name: true", "date": "name: 2024-01-01",
        "block": "name: |\n  my-skill", "folded": "name: >-\n  my-skill",
        "two-lines": "name: my\n  skill", "comment": "name: my-skill # the name",
        "hash": "name: my#skill", "flow-list": "name: [my-skill]", "hex": "name: 0x10",
    }.items():  # fmt: skip
        yield Case(f"name-value-{label}", _text(written, "description: d"))
    yield Case("name-missing", _text("description: d"))
    for label, folder in {
        "case": "My-Skill", "other": "other", "nfd": "gro\u0308ße", "wide": "ｍｙ-skill",
        "suffix": "my-skill-2", "underscore": "my_skill",
    }.items():  # fmt: skip
        yield Case(f"folder-{label}", _text("name: my-skill", "description: d"), folder)
    yield Case("folder-nfd-same", _text("name: größe", "description: d"), "gro\u0308ße")


def _descriptions() -> Iterator[Case]:
    for length in (1, 2, 100, 1023, 1024, 1025, 1068, 2048, 10_000):
        yield _described(f"{length}", "description: " + "d" * length)
        yield _described(f"{length}-wide", "description: " + "é" * length)
        yield _described(f"{length}-quoted", f'description: "{"q" * length}"')
    yield _described("1024-padded", f"description: '{'d' * 1020}     '")
    yield _described("1023-newline", "description: |\n  " + "d" * 1023)
    yield _described("1024-newline", "description: |\n  " + "d" * 1024)
    for label, written in {
        "empty": "description:", "quotes": "description: ''", "blank": "description: '  '",
        "tilde": "description: ~", "null": "description: null", "list": "description:\n  - a",
        "map": "description:\n  a: b", "int": "description: 7", "bool": "description: yes",
        "folded": "description: >\n  one\n  two\n\n  three",
        "literal": "description: |\n  one\n  two",
        "strip": "description: >-\n  one", "keep": "description: |+\n  one\n\n",
        "indented": "description: |2\n   one", "plain-lines": "description: one\n  two\n  three",
        "colon": "description: Use when: asked", "colon-end": "description: Use this:",
        "colon-tight": "description: see http://x.example:80/y",
        "colon-quoted": "description: 'a: b'",
        "colon-lines": "description: Use\n  when: asked", "hash": "description: a #b",
        "hash-tight": "description: a#b", "dash": "description: - a", "at": "description: @me",
        "backtick": "description: `x`", "percent": "description: %x", "bang": "description: !x",
        "star": "description: *x", "amp": "description: &x", "amp-value": "description: &x y",
        "quote-inside": "description: it's \"so\"", "open-quote": 'description: "open',
        "escape": 'description: "a\\x1b[31mred"', "bad-escape": 'description: "\\q"',
        "unicode-escape": 'description: "\\u0041"', "flow-list": "description: [a, b]",
        "flow-map": "description: {a: b}", "tag": "description: !!str x",
        "python-tag": "description: !!python/object/apply:os.system [id]",
        "custom-tag": "description: !mine x", "tab": "description:\tx",
        "tab-inside": "description: a\tb", "rtl": "description: \u202eevil",
        "emoji": "description: 🚀", "xml": "description: <b>&amp;</b>",
        "nel": "description: a\u0085b", "line-separator": "description: a\u2028b",
        "question": "description: ? x", "pipe": "description: a | b", "gt": "description: a > b",
        "brackets-inside": "description: a [b] {c}", "multi-quoted": "description: 'a\n  b'",
        "no-space": "description:x", "dashes": "description: a -- b",
    }.items():  # fmt: skip
        yield _described(label, written)
    yield Case("description-missing", _text("name: my-skill"))


def _described(label: str, written: str) -> Case:
    return Case(f"description-{label}", _text("name: my-skill", written))


def _optional() -> Iterator[Case]:
    for length in (0, 1, 499, 500, 501, 1000):
        yield _with(f"compatibility-{length}", f"compatibility: '{'c' * length}'")
    for label, written in {
        "compatibility-list": "compatibility:\n  - a",
        "compatibility-map": "compatibility:\n  a: b",
        "compatibility-int": "compatibility: 3", "compatibility-null": "compatibility:",
        "license": "license: MIT", "license-empty": "license:", "license-list": "license:\n  - MIT",
        "license-map": "license:\n  name: MIT", "license-long": "license: " + "l" * 5000,
        "license-int": "license: 2",
        "tools": "allowed-tools: Read Write", "tools-comma": "allowed-tools: Read, Write",
        "tools-pattern": "allowed-tools: Bash(git add:*) Read",
        "tools-list": "allowed-tools:\n  - Read\n  - Write",
        "tools-flow": "allowed-tools: [Read, Write]", "tools-empty": "allowed-tools:",
        "tools-map": "allowed-tools:\n  Read: yes", "tools-nested": "allowed-tools:\n  - - Read",
        "metadata": "metadata:\n  author: me\n  version: '1.0'",
        "metadata-bare": "metadata:\n  version: 1.0\n  stable: true",
        "metadata-flow": "metadata: {author: me}", "metadata-empty-flow": "metadata: {}",
        "metadata-empty": "metadata:", "metadata-text": "metadata: text",
        "metadata-list": "metadata:\n  - a", "metadata-nested": "metadata:\n  a:\n    b: c",
        "metadata-value-list": "metadata:\n  a:\n    - b", "metadata-many": "metadata:\n"
        + "\n".join(f"  k{index}: v" for index in range(500)),
        "metadata-duplicate": "metadata:\n  a: b\n  a: c",
        "metadata-unicode": "metadata:\n  ключ: значение",
        "metadata-anchor": "metadata:\n  a: &x b\n  c: *x",
        "metadata-merge": "metadata:\n  <<: x", "metadata-quoted-key": 'metadata:\n  "a b": c',
    }.items():  # fmt: skip
        yield _with(label, written)


def _with(label: str, written: str) -> Case:
    return Case(label, _text("name: my-skill", "description: d", written))


def _fields() -> Iterator[Case]:
    for field in (
        "version", "argument-hint", "arguments", "disable-model-invocation", "user-invocable",
        "model", "author", "Name", "NAME", "descriptions", "allowed_tools", "allowedTools",
        "tags", "x", "meta data", "licence", "context", "hooks", "<<", "0", "~", "tools",
    ):  # fmt: skip
        yield _with(f"field-{field}", f"{field}: value")
    for field in ("name", "description", "license"):
        yield _with(f"twice-{field}", f"{field}: again")
    yield Case("order", _text("description: d", "license: MIT", "name: my-skill"))
    yield Case("all", _text(
        "name: my-skill", "description: d", "license: MIT", "compatibility: any",
        "allowed-tools: Read", "metadata:", "  a: b",
    ))  # fmt: skip
    yield Case("quoted-keys", _text('"name": my-skill', "'description': d"))
    yield Case("comments", _text("# first", "name: my-skill", "# second", "description: d"))
    yield Case("blank-lines", _text("", "name: my-skill", "", "description: d", ""))
    yield Case("indented-all", _text("  name: my-skill", "  description: d"))
    yield Case("indented-one", _text("name: my-skill", "  description: d"))
    yield Case("indented-tab", _text("name: my-skill", "\tdescription: d"))
    yield Case("space-before-colon", _text("name : my-skill", "description : d"))
    yield Case("complex-key", _text("name: my-skill", "description: d", "? [a]", ": b"))
    yield Case("explicit-key", _text("? name", ": my-skill", "description: d"))


def _fences() -> Iterator[Case]:
    good = "name: my-skill\ndescription: d\n"
    for label, text in {
        "none": "# Title\n", "only-body": good, "unclosed": f"---\n{good}\nbody\n",
        "empty": "---\n---\nbody", "empty-line": "---\n\n---\nbody",
        "blank-first": f"\n---\n{good}---\n",
        "space-first": f" ---\n{good}---\n", "no-final-newline": f"---\n{good}---",
        "no-body": f"---\n{good}---\n", "trailing-spaces": f"---  \n{good}---  \nbody\n",
        "body-rule": f"---\n{good}---\nbody\n\n---\n\nmore\n",
        "body-table": f"---\n{good}---\n| --- |\n",
        "four-open": f"----\n{good}---\n", "four-close": f"---\n{good}----\nbody\n",
        "dots-close": f"---\n{good}...\nbody\n", "plus": f"+++\n{good}+++\n", "empty-file": "",
        "only-fence": "---", "only-fences": "---\n---\n", "fence-text": f"--- # x\n{good}---\n",
        "same-line": "--- {name: my-skill, description: d}\n---\n",
        "close-text": f"---\n{good}--- body\n", "close-indented": f"---\n{good} ---\nbody\n",
        "unclosed-table": f"---\n{good}\n| a | --- |\n",
        "description-dashes": "---\nname: my-skill\ndescription: before --- after\n---\nbody\n",
        "description-dashes-quoted": "---\nname: my-skill\ndescription: 'a --- b'\n---\nbody\n",
        "description-rule": "---\nname: my-skill\ndescription: |\n  a\n  ---\n  b\n---\nbody\n",
        "comment-dashes": f"---\n# --- head ---\n{good}---\nbody\n",
        "scalar": "---\njust text\n---\n", "list": "---\n- a\n- b\n---\n",
        "flow": "---\n{name: my-skill, description: d}\n---\n",
        "json": '---\n{"name": "my-skill"}\n---\n',
        "directive": f"---\n%YAML 1.2\n{good}---\n",
        "two-documents": f"---\n{good}...\n{good}---\n",
        "crlf": f"---\n{good}---\nbody\n".replace("\n", "\r\n"),
        "cr": f"---\n{good}---\nbody\n".replace("\n", "\r"),
        "mixed-ends": f"---\r\n{good}---\r\nbody\n", "form-feed": f"---\n{good}\f---\n---\n",
    }.items():  # fmt: skip
        yield Case(f"fence-{label}", text.encode())


def _yaml() -> Iterator[Case]:
    bomb = ["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))]
    for label, lines in {
        "bomb": bomb, "anchor": ["license: &a MIT"], "alias-unknown": ["license: *nope"],
        "deep-flow": ["metadata: " + "[" * 200 + "]" * 200],
        "unbalanced": ["metadata: [a"], "stray-bracket": ["metadata: a]"],
        "bad-indent": ["metadata:", "    a: b", "  c: d"], "tab-value": ["metadata:", "\ta: b"],
        "no-colon": ["license"], "colon-only": [": x"], "dash-in-map": ["- x"],
        "key-colon": ["license:: x"], "ends-with-colon": ["license: a:"],
        "long-key": ["k" * 2000 + ": v"], "set": ["metadata: !!set {a, b}"],
        "binary": ["license: !!binary aGk="], "timestamp": ["license: !!timestamp 2024-01-01"],
    }.items():  # fmt: skip
        yield Case(f"yaml-{label}", _text("name: my-skill", "description: d", *lines))


def _bytes() -> Iterator[Case]:
    good = _text("name: my-skill", "description: d")
    yield Case("bytes-bom", b"\xef\xbb\xbf" + good)
    yield Case("bytes-utf16", good.decode().encode("utf-16"))
    yield Case(
        "bytes-latin1", _text("name: my-skill", "description: caf\xe9").decode().encode("latin-1")
    )
    yield Case("bytes-body-latin1", good + b"caf\xe9")
    yield Case("bytes-overlong", good.replace(b": d", b": \xc0\xaf"))
    yield Case("bytes-surrogate", good.replace(b": d", b": \xed\xa0\x80"))
    for code in (0x00, 0x01, 0x07, 0x08, 0x0B, 0x0C, 0x1B, 0x7F):
        yield Case(f"bytes-control-{code:02x}", good.replace(b": d", b": d" + bytes([code])))
        yield Case(f"bytes-body-control-{code:02x}", good + bytes([code]))
    yield Case("bytes-c1", good.replace(b": d", ": d\x9b31m".encode()))
    yield Case("bytes-noncharacter", good.replace(b": d", ": d\ufffe".encode()))
