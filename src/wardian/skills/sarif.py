"""Diagnostics as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from wardian.skills.diagnostic import RULES, Diagnostic, Rule

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif(diagnostics: Iterable[Diagnostic], version: str) -> dict[str, Any]:
    """One SARIF log with one run; rules are those of the whole table, by index."""
    rules = list(RULES.values())
    index = {rule.code: place for place, rule in enumerate(rules)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "wardian",
                        "version": version,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, index[one.code]) for one in diagnostics],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(one: Diagnostic, index: int) -> dict[str, Any]:
    # A name that is not UTF-8 still needs a valid URI.
    uri = quote(one.path.encode("utf-8", "surrogateescape"), safe="/")
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if one.line is not None:
        location["region"] = {"startLine": one.line}
        if one.column is not None:
            location["region"]["startColumn"] = one.column
    text = one.message if one.hint is None else f"{one.message}. {one.hint}"
    return {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }
