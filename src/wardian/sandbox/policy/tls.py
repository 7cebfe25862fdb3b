"""``[network.tls]`` of a policy file: which requests may be made to a host, with which secret."""

from __future__ import annotations

import re

from wardian import toml
from wardian.errors import UsageError, WardianError
from wardian.sandbox.network.requests import check_header, check_method, check_pattern
from wardian.sandbox.network.rules import normal_name
from wardian.sandbox.policy.policy import Secret, TlsRule

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    At = Callable[[list[str], str, str | None], WardianError]

_KEYS = ("methods", "paths", "secret")
_SECRET = ("header", "from", "prefix")
_SOURCE = re.compile(r"env:[^=\0]+\Z|file:(/|~/)[^\0]+\Z")
SUCH = 'secret = {header = "Authorization", prefix = "Bearer ", from = "env:API_KEY"}'


def read_tls(table: dict[str, Any], at: At) -> tuple[TlsRule, ...]:
    """``at`` makes an error that points at keys below the table. Raises PolicyError."""
    found: list[TlsRule] = []
    for host, raw in table.items():
        try:
            name = normal_name(host)
        except UsageError as error:
            raise at([host], str(error), "one whole name, without a star or a port") from None
        if name.rsplit(".", 1)[-1].isdigit():
            raise at([host], f"{host!r} is an address, not a name", None)
        for one in raw if isinstance(raw, list) else [raw]:
            found.append(_rule(name, host, one, at))
    check_secrets(found, lambda name, message: at([name], message, None))
    return tuple(found)


def _rule(name: str, host: str, raw: Any, at: At) -> TlsRule:
    if not isinstance(raw, dict):
        raise at([host], "expected a table", '{methods = ["GET"], paths = ["/v1/**"]}')
    for key in raw:
        if key not in _KEYS:
            raise at([host, key], f"unknown key {key!r}", toml.suggest(key, _KEYS))
    values: dict[str, tuple[str, ...]] = {}
    for key, check in (("methods", check_method), ("paths", check_pattern)):
        listed = raw.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise at([host, key], f"{key}: expected a list of strings", None)
        if key in raw and not listed:
            raise at([host, key], f"{key}: an empty list allows nothing", "omit it to allow any")
        try:
            values[key] = tuple(dict.fromkeys(check(one) for one in listed))
        except UsageError as error:
            raise at([host, key], f"{key}: {error}", error.hint) from None
    secret = _secret(host, raw["secret"], at) if "secret" in raw else None
    return TlsRule(name, values["methods"], values["paths"], secret)


def _secret(host: str, raw: Any, at: At) -> Secret:
    if not isinstance(raw, dict) or not all(isinstance(value, str) for value in raw.values()):
        raise at([host, "secret"], "secret: expected a table of strings", SUCH)
    for key in raw:
        if key not in _SECRET:
            raise at([host, "secret"], f"unknown key {key!r} in secret", toml.suggest(key, _SECRET))
    if "header" not in raw or "from" not in raw:
        raise at([host, "secret"], "a secret has a header and a place that it comes from", SUCH)
    if not _SOURCE.match(raw["from"]):
        message = f"from: {raw['from']!r} is neither env:NAME nor file:/PATH"
        raise at([host, "secret"], message, SUCH)
    if not raw.get("prefix", "").isprintable() or not raw.get("prefix", "").isascii():
        raise at([host, "secret"], "prefix: it has characters that no header can have", None)
    try:
        header = check_header(raw["header"])
    except UsageError as error:
        raise at([host, "secret"], f"header: {error}", error.hint) from None
    return Secret(header, raw["from"], raw.get("prefix", ""))


def check_rules(rules: Iterable[TlsRule]) -> None:
    """Rules that a program made, as strictly as those of a file: one that is compared in another
    form than it has would not hold. Raises UsageError."""
    listed = tuple(rules)

    def error(keys: list[str], message: str, hint: str | None) -> UsageError:
        return UsageError(f"{keys[0]}: {message}", hint=hint)

    for rule in listed:
        table: dict[str, Any] = {"methods": list(rule.methods), "paths": list(rule.paths)}
        table = {key: value for key, value in table.items() if value}
        if rule.secret is not None:
            header, source, prefix = rule.secret
            table["secret"] = {"header": header, "from": source, "prefix": prefix}
        if read_tls({rule.host: table}, error) != (rule,):
            raise UsageError(
                f"{rule.host}: a rule for requests is not in its normal form",
                hint="names in lower case, paths without needless escapes",
            )
    check_secrets(listed, lambda host, message: error([host], message, None))


def check_secrets(rules: Iterable[TlsRule], error: Callable[[str, str], Exception]) -> None:
    """A header of a host has one secret. Raises what ``error`` makes."""
    known: dict[tuple[str, str], Secret] = {}
    for rule in rules:
        if rule.secret is not None:
            key = (rule.host, rule.secret.header.lower())
            if known.setdefault(key, rule.secret) != rule.secret:
                raise error(rule.host, f"two secrets for the header {rule.secret.header}")


def tls_toml(rules: Iterable[TlsRule]) -> list[str]:
    """The table as lines, which read as the same rules."""
    by_host: dict[str, list[str]] = {}
    for rule in rules:
        by_host.setdefault(rule.host, []).append(_inline(rule))
    return [
        f"{toml.quoted(host)} = {ones[0] if len(ones) == 1 else '[' + ', '.join(ones) + ']'}"
        for host, ones in by_host.items()
    ]


def _inline(rule: TlsRule) -> str:
    parts = []
    for key, listed in (("methods", rule.methods), ("paths", rule.paths)):
        if listed:
            parts.append(f"{key} = [{', '.join(map(toml.quoted, listed))}]")
    if rule.secret is not None:
        header, source, prefix = map(toml.quoted, rule.secret)
        before = f", prefix = {prefix}" if rule.secret.prefix else ""
        parts.append(f"secret = {{header = {header}{before}, from = {source}}}")
    return "{" + ", ".join(parts) + "}"
