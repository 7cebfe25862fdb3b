"""What can be said about a skill: one diagnostic, and the table of rules it may come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wardian.text import printable

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is looked at; ``name`` is its slug, ``summary`` says what is wrong."""

    code: str
    name: str
    severity: Severity
    summary: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``line`` and ``column`` count from 1 and are absent for a whole file."""

    code: str
    severity: Severity
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    @property
    def where(self) -> str:
        """``path:line:column``, as editors and terminals make clickable."""
        parts = (self.path, self.line, self.column)
        return ":".join(str(part) for part in parts if part is not None)


def described(one: Diagnostic) -> str:
    """One line for a terminal, and a second with the hint; safe whatever the skill holds."""
    line = f"{printable(one.where)}: {one.severity} {one.code} {printable(one.message)}"
    return line if one.hint is None else f"{line}\n    hint: {printable(one.hint)}"


class UnreadableError(Exception):
    """The manifest can't be read past this finding; never leaves ``wardian.skills``."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def finding(
    name: str,
    message: str,
    path: str,
    line: int | None = None,
    column: int | None = None,
    *,
    hint: str | None = None,
) -> Diagnostic:
    """A diagnostic of the rule called ``name``, with that rule's code and severity."""
    rule = RULES[name]
    return Diagnostic(rule.code, rule.severity, message, path, line, column, hint)


_TABLE: tuple[tuple[str, str, Severity, str], ...] = (
    # The file and its YAML
    ("WS101", "no-manifest", "error", "the folder has no SKILL.md"),
    ("WS102", "manifest-kind", "error", "SKILL.md is a link, a directory, a pipe or a device"),
    ("WS103", "manifest-size", "error", "SKILL.md, or its frontmatter, is larger than the limit"),
    ("WS104", "encoding", "error", "SKILL.md is not UTF-8"),
    ("WS105", "control-character", "error", "SKILL.md holds a control character"),
    ("WS106", "no-frontmatter", "error", "SKILL.md does not start with a `---` line"),
    ("WS107", "open-frontmatter", "error", "no second `---` line closes the frontmatter"),
    ("WS108", "yaml", "error", "the frontmatter is not YAML"),
    (
        "WS109",
        "yaml-feature",
        "error",
        "an anchor, alias, tag or nesting, which manifests may not use",
    ),
    ("WS110", "not-a-mapping", "error", "the frontmatter is not a mapping of fields"),
    ("WS111", "duplicate-key", "error", "a key appears twice"),
    ("WS112", "unquoted-colon", "error", "a value holds `: ` and is not quoted"),
    ("WS113", "byte-order-mark", "warning", "SKILL.md starts with a byte order mark"),
    ("WS114", "manifest-case", "warning", "the file is called skill.md, not SKILL.md"),
    ("WS115", "bare-value", "warning", "YAML reads the value as a number, date or boolean"),
    ("WS116", "archive", "error", "the archive is not safe to open, or damaged"),
    # The fields
    ("WS201", "unknown-field", "error", "a field that the specification does not have"),
    ("WS202", "no-name", "error", "the required field `name` is missing"),
    ("WS203", "name-kind", "error", "`name` is empty, or not text"),
    ("WS204", "name-length", "error", "`name` is longer than 64 characters"),
    ("WS205", "name-case", "error", "`name` is not in lower case"),
    ("WS206", "name-hyphens", "error", "`name` starts or ends with a hyphen, or has two in a row"),
    (
        "WS207",
        "name-characters",
        "error",
        "`name` holds characters other than letters, digits and hyphens",
    ),
    ("WS208", "name-folder", "error", "`name` differs from the folder's name"),
    ("WS211", "no-description", "error", "the required field `description` is missing"),
    ("WS212", "description-kind", "error", "`description` is empty, or not text"),
    ("WS213", "description-length", "error", "`description` is longer than 1024 characters"),
    ("WS221", "compatibility-kind", "error", "`compatibility` is not text"),
    ("WS222", "compatibility-length", "error", "`compatibility` is longer than 500 characters"),
    ("WS223", "compatibility-empty", "warning", "`compatibility` is empty"),
    ("WS231", "license-kind", "error", "`license` is not text"),
    ("WS232", "metadata-kind", "error", "`metadata` is not a mapping"),
    ("WS233", "metadata-value", "error", "a value under `metadata` is not text"),
    ("WS234", "tools-list", "warning", "`allowed-tools` is a list, not a space-separated text"),
    ("WS235", "tools-kind", "error", "`allowed-tools` is neither text nor a list of texts"),
    ("WS241", "request", "error", "a request that `--grant` can't give"),
    ("WS242", "request-key", "warning", "an unknown `wardian-…` key under `metadata`"),
    # The instructions
    ("WS301", "missing-link", "error", "SKILL.md links to a file that does not exist"),
    ("WS302", "missing-mention", "warning", "SKILL.md names a file that does not exist"),
    ("WS303", "outside-link", "warning", "SKILL.md links to a file outside the skill"),
    ("WS304", "empty-body", "warning", "there are no instructions after the frontmatter"),
    ("WS305", "long-body", "info", "the instructions are longer than 500 lines"),
    # The files
    ("WS401", "unknown-interpreter", "warning", "a script that no known interpreter runs"),
    ("WS402", "not-executable", "info", "a script has a shebang and no execute bit"),
    ("WS403", "no-shebang", "warning", "a script has the execute bit and no shebang"),
    ("WS404", "does-not-parse", "warning", "a script, or a JSON file, does not parse"),
    ("WS405", "shebang-line-end", "error", "the shebang line ends with a carriage return"),
    ("WS406", "undeclared-import", "warning", "a package is imported, but not declared"),
    ("WS407", "prose-dependency", "info", "a package is declared only in the instructions"),
    ("WS408", "script-metadata", "error", "a dependency declaration can't be read"),
    ("WS409", "link", "warning", "the skill holds a symbolic link"),
    ("WS410", "special-file", "error", "the skill holds a pipe, a socket or a device"),
    ("WS411", "too-many-files", "warning", "more files than are checked"),
    ("WS412", "link-outside", "error", "a symbolic link leads out of the skill"),
)

RULES: dict[str, Rule] = {row[1]: Rule(*row) for row in _TABLE}
