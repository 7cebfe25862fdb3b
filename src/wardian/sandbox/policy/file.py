"""Reads policy files: strict TOML. An error names file, line, column and the remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence

from wardian import toml
from wardian.errors import PolicyError, ShareError, UsageError, WardianError
from wardian.sandbox.policy.policy import (
    LIMIT_FIELDS,
    NETWORKS,
    NEVER_DENIED,
    Policy,
    Share,
    TlsRule,
    check_environment_name,
)
from wardian.sandbox.policy.units import (
    parse_count,
    parse_duration,
    parse_size,
)

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

PRESETS = os.path.join(os.path.dirname(__file__), "presets")
MAX_BYTES = 1 << 20
CALLER = "caller"  # as `work`: the directory is the caller's to name, with --work

# table → key → (type expected, in words)
_KNOWN: dict[str, dict[str, str]] = {
    "files": {
        "read": "paths",
        "copy": "paths",
        "write": "paths",
        "work": "path",
        "rootfs": "path",
        "base": "paths",
    },
    "network": {
        "mode": "network",
        "allow": "hosts",
        "deny": "hosts",
        "tls": "tls",
        "interface": "yes or no",
        "max_connections": "count",
        "max_per_second": "count",
        "max_sent": "size",
        "max_received": "size",
    },
    "environment": {"pass": "names", "only": "names", "set": "variables"},
    "limits": {
        "time": "duration",
        "cpu": "duration",
        "memory": "size",
        "processes": "count",
        "files": "count",
        "disk": "size",
        "output": "size",
    },
    "syscalls": {"allow": "calls", "deny": "denied", "only": "calls", "debug": "yes or no"},
    "landlock": {"abi": "abi"},
    "protections": {"degrade": "protections"},
    "refusals": {"explain": "yes or no"},
}
TABLES = tuple(_KNOWN)
# Of a network by name: key → field of Policy
NETWORK_LIMITS = {
    "max_connections": "max_connections",
    "max_per_second": "max_per_second",
    "max_sent": "max_sent_bytes",
    "max_received": "max_received_bytes",
}


def preset_names() -> list[str]:
    """The presets that ship with wardian."""
    names = (name for name in os.listdir(PRESETS) if name.endswith(".toml"))
    return sorted(name.removesuffix(".toml") for name in names)


def preset_descriptions() -> dict[str, str]:
    """Each preset with the sentence that its file begins with."""
    found = {}
    for name in preset_names():
        with open(os.path.join(PRESETS, f"{name}.toml"), encoding="utf-8") as file:
            found[name] = file.readline().removeprefix("#").strip().rstrip(".")
    return found


def read_preset(name: str) -> Policy:
    """A shipped preset; ``default`` is the base of all others. Raises PolicyError."""
    if name not in preset_names():
        raise PolicyError(
            f"there is no preset {name!r}", hint="presets: " + ", ".join(preset_names())
        )
    base = Policy() if name == "default" else read_preset("default")
    return read_policy(os.path.join(PRESETS, f"{name}.toml"), base)


def read_policy(path: str, base: Policy) -> Policy:
    """A policy file on top of ``base``. Raises PolicyError."""
    return parse_policy(_read_text(path), path, base)


def parse_policy(text: str, path: str, base: Policy) -> Policy:
    """The text of a policy file that stands, or would stand, at ``path``. Raises PolicyError."""
    return _Reader(path, text).policy(toml.parse(text, path, PolicyError), base)


def merged_policy(
    tables: Mapping[str, Any], text: str, path: str, base: Policy, prefix: Sequence[str] = ()
) -> Policy:
    """Tables of a policy file that stand below ``prefix`` in another file, on top of ``base``.
    Raises PolicyError."""
    return _Reader(path, text, prefix).policy(dict(tables), base)


def _read_text(path: str) -> str:
    from wardian.sandbox.paths.whole_files import read_decisive

    data = read_decisive(path, MAX_BYTES, PolicyError)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PolicyError("is not UTF-8 text", path=path, line=line) from None


class _Reader:
    """One file: knows its text, so that what is wrong can be pointed at."""

    def __init__(self, path: str, text: str, prefix: Sequence[str] = ()) -> None:
        self.path, self.text, self.prefix = path, text, prefix
        self.base_dir = os.path.dirname(os.path.abspath(path))

    def policy(self, document: dict[str, Any], base: Policy) -> Policy:
        for table, content in document.items():
            if table not in _KNOWN:
                raise self.error([table], f"unknown table [{table}]", toml.suggest(table, _KNOWN))
            if not isinstance(content, dict):
                raise self.error([table], f"{table} must be a table: write [{table}]")
            for key in content:
                if key not in _KNOWN[table]:
                    hint = toml.suggest(key, _KNOWN[table])
                    raise self.error([table, key], f"unknown key {key!r} in [{table}]", hint)
        return self.merged(document, base)

    def merged(self, document: dict[str, Any], base: Policy) -> Policy:
        get = self.getter(document)
        shares = list(base.shares)
        for key in ("read", "copy", "write"):
            shares += [self.share(key, text) for text in get("files", key, [])]
        limits = {LIMIT_FIELDS[key]: get("limits", key, None) for key in document.get("limits", {})}
        variables = dict(base.set_env) | get("environment", "set", {})
        work, rootfs = get("files", "work", None), get("files", "rootfs", None)
        allowed = _union(base.allow_syscalls, get("syscalls", "allow", []))
        denied = _union(base.deny_syscalls, get("syscalls", "deny", []))
        only = get("syscalls", "only", None)
        if only is not None:
            denied = _union(denied, all_but({*only, *allowed}))
        policy = base._replace(
            shares=tuple(shares),
            work=self.share("work", work).path if work not in (None, CALLER) else base.work,
            rootfs=self.share("rootfs", rootfs).path if rootfs else base.rootfs,
            **self.network(get, base),
            pass_env=_union(
                tuple(get("environment", "only", base.pass_env)), get("environment", "pass", [])
            ),
            set_env=tuple(sorted(variables.items())),
            limits=base.limits._replace(**limits),
            allow_syscalls=allowed,
            deny_syscalls=denied,
            landlock_abi=get("landlock", "abi", base.landlock_abi),
            degrade=_union(base.degrade, get("protections", "degrade", [])),
            base=self.parts(get("files", "base", base.base), rootfs or base.rootfs),
            interface=get("network", "interface", base.interface),
            explain=get("refusals", "explain", base.explain),
        )
        return policy.debugging() if get("syscalls", "debug", False) else policy

    def network(self, get: Callable[[str, str, Any], Any], base: Policy) -> dict[str, Any]:
        """NetworkRules make it a network by name; a mode without rules drops those of ``base``."""
        mode = get("network", "mode", None)
        allow, deny = get("network", "allow", []), get("network", "deny", [])
        limits = self.network_limits(get, Policy() if mode == "host" else base)
        tls = self.tls(get)
        if mode in ("none", "host") and (allow or deny or tls):
            key = "allow" if allow else "deny" if deny else "tls"
            raise self.error(["network", key], f'rules and mode = "{mode}" cannot be combined')
        if mode in ("none", "host"):
            return {"network": mode, "allow_hosts": (), "deny_hosts": (), "tls": ()} | limits
        found = _union(base.allow_hosts, allow)
        named = "names" if found or tls or mode == "names" else base.network
        return {
            "network": named,
            "allow_hosts": found,
            "deny_hosts": _union(base.deny_hosts, deny),
            "tls": tuple(dict.fromkeys((*base.tls, *tls))),
        } | limits

    def tls(self, get: Callable[[str, str, Any], Any]) -> tuple[TlsRule, ...]:
        """Rules for the requests to hosts."""
        table = get("network", "tls", None)
        if not table:
            return ()
        from wardian.sandbox.policy.tls import read_tls

        def error(keys: list[str], message: str, hint: str | None) -> PolicyError:
            return self.error(["network", "tls", *keys], message, hint)

        return read_tls(table, error)

    def network_limits(self, get: Callable[[str, str, Any], Any], base: Policy) -> dict[str, Any]:
        """Those of a network by name; on the host's they could not be kept."""
        unset = object()
        found = {key: get("network", key, unset) for key in NETWORK_LIMITS}
        given = [key for key, value in found.items() if value is not unset]
        if given and get("network", "mode", None) == "host":
            message = f'{given[0]} and mode = "host" cannot be combined'
            hint = 'it holds for a network by name: allow = ["api.example.com"]'
            raise self.error(["network", given[0]], message, hint)
        return {NETWORK_LIMITS[key]: found[key] for key in given} | {
            field: getattr(base, field) for key, field in NETWORK_LIMITS.items() if key not in given
        }

    def parts(self, paths: Sequence[str] | None, rootfs: str | None) -> tuple[str, ...] | None:
        """Of the host's /usr and /etc, what is named; each must be there, and be part of it."""
        if paths is None:
            return None
        from wardian.sandbox.root.root import parts_of_host

        if rootfs is not None:
            message = "files.base and files.rootfs cannot be combined"
            raise self.error(["files", "base"], message)
        for path in paths:
            if not path.startswith("/") or os.path.normpath(path) != path or "\0" in path:
                message = f"{path!r} is not an absolute path without dots"
                raise self.error(["files", "base"], message, value=path)
        named = tuple(dict.fromkeys(paths))
        try:
            parts_of_host(named)
        except ShareError as error:
            hint = error.hint or f"to share it besides: read = [{toml.quoted(error.path)}]"
            message = f"{error.path}: {error.why}"
            raise self.error(["files", "base"], message, hint, error.path) from None
        return named

    def getter(self, document: dict[str, Any]) -> Callable[[str, str, Any], Any]:
        def get(table: str, key: str, default: Any) -> Any:
            if key not in document.get(table, {}):
                return default
            return self.value(table, key, document[table][key])

        return get

    def value(self, table: str, key: str, raw: Any) -> Any:
        kind = _KNOWN[table][key]
        try:
            return _PARSERS[kind](raw)
        except ValueError as error:
            raise self.error([table, key], f"{key}: {error}") from None
        except WardianError as error:
            raise self.error([table, key], str(error), error.hint) from None

    def share(self, key: str, text: str) -> Share:
        try:
            share = Share.parse(text, write=key == "write", copy=key == "copy")
        except UsageError:
            raise self.error(
                ["files", key], f"{text!r} is not an absolute path", value=text
            ) from None
        if not os.path.lexists(share.path):
            raise self.error(["files", key], f"{share.path} does not exist", value=text)
        return share

    def error(
        self, keys: list[str], message: str, hint: str | None = None, value: str | None = None
    ) -> PolicyError:
        line, column = toml.locate(self.text, [*self.prefix, *keys], value)
        return PolicyError(message, path=self.path, line=line, column=column, hint=hint)


def _strings(raw: Any) -> list[str]:
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        raise ValueError('expected a list of strings, such as ["a", "b"]')
    return raw


def _string(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("expected a string")
    return raw


def _text_or_number(raw: Any) -> str:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise ValueError("expected a string or a number")
    return str(raw)


def _network(raw: Any) -> str:
    if raw not in NETWORKS:
        raise ValueError(f"{raw!r} is not a network mode; write none, names or host")
    return str(raw)


def _hosts(raw: Any) -> list[str]:
    from wardian.sandbox.network.rules import parse_rule

    return [str(parse_rule(text)) for text in _strings(raw)]


def _names(raw: Any) -> list[str]:
    return [check_environment_name(name) for name in _strings(raw)]


def _variables(raw: Any) -> dict[str, str]:
    if not isinstance(raw, dict) or not all(isinstance(v, str) for v in raw.values()):
        raise ValueError('expected a table of strings, such as {NAME = "value"}')
    if any("\0" in value for value in raw.values()):
        raise ValueError("a value can't hold a NUL")
    return {check_environment_name(name): value for name, value in raw.items()}


def _calls(raw: Any) -> list[str]:
    from wardian.syscalls import lookup

    for name in _strings(raw):
        lookup(name)
    return list(raw)


def _denied(raw: Any) -> list[str]:
    names = _calls(raw)
    if NEVER_DENIED in names:
        raise PolicyError(f"{NEVER_DENIED} can't be denied: the filter is handed over with it")
    return names


def all_but(names: Collection[str]) -> list[str]:
    """Every call that the table lets pass, always or with some arguments, but for these."""
    from wardian.syscalls import rows

    return [
        row.name
        for row in rows()
        if row.kind in ("allow", "when") and row.name not in names and row.name != NEVER_DENIED
    ]


def _protections(raw: Any) -> list[str]:
    from wardian.sandbox.run.protections import DEGRADABLE, check_degrade

    names = _strings(raw)
    try:
        check_degrade(names)
    except UsageError as error:
        unknown = next(name for name in names if name not in DEGRADABLE)
        raise PolicyError(
            str(error), hint=error.hint or toml.suggest(unknown, DEGRADABLE)
        ) from None
    return names


def _tls(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError('expected a table of hosts: [network.tls], "api.example.com" = {…}')
    return raw


def _yes_or_no(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise ValueError("expected true or false")
    return raw


def _abi(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= 64:
        raise ValueError("expected a Landlock ABI version, a number from 0 (none) to 64")
    return raw


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "paths": _strings,
    "path": _string,
    "network": _network,
    "hosts": _hosts,
    "tls": _tls,
    "names": _names,
    "protections": _protections,
    "variables": _variables,
    "duration": lambda raw: parse_duration(_text_or_number(raw)),
    "size": lambda raw: parse_size(_text_or_number(raw)),
    "count": lambda raw: parse_count(_text_or_number(raw)),
    "calls": _calls,
    "denied": _denied,
    "abi": _abi,
    "yes or no": _yes_or_no,
}


def _union(first: tuple[str, ...], more: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))
