"""Policy files: strict TOML. Whatever is wrong is told with file, line, column and the way out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence

from wardian.errors import PolicyError, ShareError, UsageError, WardianError
from wardian.sandbox.policy.policy import (
    NETWORKS,
    NEVER_DENIED,
    Limits,
    Policy,
    Share,
    check_environment_name,
)
from wardian.sandbox.policy.units import (
    format_duration,
    format_size,
    parse_count,
    parse_duration,
    parse_size,
)

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

PRESETS = os.path.join(os.path.dirname(__file__), "presets")
MAX_BYTES = 1 << 20

# table → key → (type expected, in words)
_KNOWN: dict[str, dict[str, str]] = {
    "files": {"read": "paths", "write": "paths", "work": "path", "rootfs": "path", "base": "paths"},
    "network": {"mode": "network"},
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
    "syscalls": {"allow": "calls", "deny": "denied", "only": "calls"},
    "landlock": {"abi": "abi"},
    "protections": {"degrade": "protections"},
}
_LIMIT_FIELDS = {
    "time": "time_s",
    "cpu": "cpu_s",
    "memory": "memory_bytes",
    "processes": "processes",
    "files": "files",
    "disk": "disk_bytes",
    "output": "output_bytes",
}


def preset_names() -> list[str]:
    """The presets that ship with wardian."""
    names = (name for name in os.listdir(PRESETS) if name.endswith(".toml"))
    return sorted(name.removesuffix(".toml") for name in names)


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
    import tomllib  # writing a policy needs none of it

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, line, column = syntax_place(text, str(error))
        raise PolicyError(message, path=path, line=line, column=column) from None
    except (ValueError, RecursionError) as error:  # digits, or nesting, without end
        raise PolicyError(f"not TOML: {error}", path=path) from None
    return _Reader(path, text).policy(document, base)


def _read_text(path: str) -> str:
    from wardian.sandbox.paths.whole_files import read_decisive

    data = read_decisive(path, MAX_BYTES, PolicyError)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PolicyError("is not UTF-8 text", path=path, line=line) from None


def syntax_place(text: str, message: str) -> tuple[str, int, int]:
    """What is wrong, its line and column; tomllib ends messages with ``(at line L, column C)``."""
    head, _, where = message.rpartition(" (at ")
    words = where.rstrip(")").replace(",", "").split()
    if len(words) == 4 and words[0] == "line":
        return head, int(words[1]), int(words[3])
    lines = text.splitlines() or [""]
    head = head if where == "end of document)" else message
    return head, len(lines), len(lines[-1]) + 1


class _Reader:
    """One file: knows its text, so that what is wrong can be pointed at."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.base_dir = os.path.dirname(os.path.abspath(path))

    def policy(self, document: dict[str, Any], base: Policy) -> Policy:
        for table, content in document.items():
            if table not in _KNOWN:
                raise self.error([table], f"unknown table [{table}]", suggest(table, _KNOWN))
            if not isinstance(content, dict):
                raise self.error([table], f"{table} must be a table: write [{table}]")
            for key in content:
                if key not in _KNOWN[table]:
                    hint = suggest(key, _KNOWN[table])
                    raise self.error([table, key], f"unknown key {key!r} in [{table}]", hint)
        return self.merged(document, base)

    def merged(self, document: dict[str, Any], base: Policy) -> Policy:
        get = self.getter(document)
        shares = list(base.shares)
        for key, write in (("read", False), ("write", True)):
            for text in get("files", key, []):
                shares.append(self.share(key, text, write))
        limits = {
            _LIMIT_FIELDS[key]: get("limits", key, None) for key in document.get("limits", {})
        }
        variables = dict(base.set_env) | get("environment", "set", {})
        work, rootfs = get("files", "work", None), get("files", "rootfs", None)
        allowed = _union(base.allow_syscalls, get("syscalls", "allow", []))
        denied = _union(base.deny_syscalls, get("syscalls", "deny", []))
        only = get("syscalls", "only", None)
        if only is not None:
            denied = _union(denied, all_but({*only, *allowed}))
        return base._replace(
            shares=tuple(shares),
            work=self.share("work", work, True).path if work else base.work,
            rootfs=self.share("rootfs", rootfs, False).path if rootfs else base.rootfs,
            network=get("network", "mode", base.network),
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
        )

    def parts(self, paths: Sequence[str] | None, rootfs: str | None) -> tuple[str, ...] | None:
        """Of the host's /usr and /etc, what is named; each must be there, and be part of it."""
        if paths is None:
            return None
        from wardian.sandbox.root.steps import parts_of_host

        if rootfs is not None:
            message = "base names parts of the host's /usr; a rootfs takes its place"
            raise self.error(["files", "base"], message)
        for path in paths:
            if not path.startswith("/") or os.path.normpath(path) != path or "\0" in path:
                message = f"{path!r} is not an absolute path without dots"
                raise self.error(["files", "base"], message, value=path)
        named = tuple(dict.fromkeys(paths))
        try:
            parts_of_host(named)
        except ShareError as error:
            hint = error.hint or f"to share it besides: read = [{quoted(error.path)}]"
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

    def share(self, key: str, text: str, write: bool) -> Share:
        try:
            share = Share.parse(text, write=write)
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
        line, column = locate(self.text, keys, value)
        return PolicyError(message, path=self.path, line=line, column=column, hint=hint)


def locate(text: str, keys: list[str], value: str | None = None) -> tuple[int, int]:
    """Line and column of a key (or of a value below it) in TOML text that is known to parse."""
    table, found = "", (1, 1)
    dotted = ".".join(keys)
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = bare.strip("[] ").split("]")[0].replace(" ", "").replace('"', "")
            inside = False
            if table == dotted or (len(keys) > 1 and table == keys[0]):
                found = (number, line.index("[") + 1)
            continue
        name = bare.split("=")[0].strip().replace('"', "") if "=" in bare else ""
        full = f"{table}.{name}" if table else name
        if name and (full == dotted or dotted.startswith(full + ".")):
            found, inside = (number, len(line) - len(line.lstrip()) + 1), full == dotted
            if value is None and inside:
                return found
        if inside and value is not None and value in line:
            return number, line.index(value) + 1
    return found


def suggest(word: str, known: Any) -> str:
    """The nearest known word, or all of them."""
    import difflib

    near = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(sorted(known))


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
        raise ValueError(f"{raw!r} is not a network mode; write " + " or ".join(NETWORKS))
    return str(raw)


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
    from wardian.sandbox.run.plan import DEGRADABLE, check_degrade

    names = _strings(raw)
    try:
        check_degrade(names)
    except UsageError as error:
        unknown = next(name for name in names if name not in DEGRADABLE)
        raise PolicyError(str(error), hint=error.hint or suggest(unknown, DEGRADABLE)) from None
    return names


def _abi(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= 64:
        raise ValueError("expected a Landlock ABI version, a number from 0 (none) to 64")
    return raw


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "paths": _strings,
    "path": _string,
    "network": _network,
    "names": _names,
    "protections": _protections,
    "variables": _variables,
    "duration": lambda raw: parse_duration(_text_or_number(raw)),
    "size": lambda raw: parse_size(_text_or_number(raw)),
    "count": lambda raw: parse_count(_text_or_number(raw)),
    "calls": _calls,
    "denied": _denied,
    "abi": _abi,
}


def _union(first: tuple[str, ...], more: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str) -> str:
    """As a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(map(_escaped, escaped)) + '"'


def _list(items: Any) -> str:
    return "[" + ", ".join(quoted(str(item)) for item in items) + "]"


def _limits_toml(limits: Limits) -> list[str]:
    return [
        f"time = {quoted(format_duration(limits.time_s))}",
        f"cpu = {quoted(format_duration(limits.cpu_s))}",
        f"memory = {quoted(format_size(limits.memory_bytes))}",
        f"processes = {quoted(str(limits.processes or 'none'))}",
        f"files = {quoted(str(limits.files or 'none'))}",
        f"disk = {quoted(format_size(limits.disk_bytes))}",
        f"output = {quoted(format_size(limits.output_bytes))}",
    ]


def _denied_toml(policy: Policy) -> str:
    """What is denied, or all that is left where that is the same and shorter."""
    from wardian.syscalls import rows

    denied = set(policy.deny_syscalls)
    left = [
        row.name
        for row in rows()
        if row.kind in ("allow", "when") and row.name not in {*denied, *policy.allow_syscalls}
    ]
    same = tuple(all_but({*left, *policy.allow_syscalls})) == policy.deny_syscalls
    if same and len(left) < len(denied):
        return f"only = {_list(left)}"
    return f"deny = {_list(policy.deny_syscalls)}"


def write_policy(policy: Policy) -> str:
    """The policy as TOML; reading it on top of an empty policy, or of the default, gives the same
    value. So what passes of the environment is written as all that does."""
    lines = ["[files]"]
    lines.append(f"read = {_list(s for s in policy.shares if not s.write)}")
    lines.append(f"write = {_list(s for s in policy.shares if s.write)}")
    if policy.work:
        lines.append(f"work = {quoted(policy.work)}")
    if policy.rootfs:
        lines.append(f"rootfs = {quoted(policy.rootfs)}")
    if policy.base is not None:
        lines.append(f"base = {_list(policy.base)}")
    lines += ["", "[network]", f"mode = {quoted(policy.network)}"]
    lines += ["", "[environment]", f"only = {_list(policy.pass_env)}"]
    variables = ", ".join(f"{quoted(k)} = {quoted(v)}" for k, v in policy.set_env)
    lines.append(f"set = {{{variables}}}")
    lines += ["", "[limits]", *_limits_toml(policy.limits)]
    lines += ["", "[syscalls]", f"allow = {_list(policy.allow_syscalls)}"]
    lines.append(_denied_toml(policy))
    lines += ["", "[landlock]", f"abi = {policy.landlock_abi}"]
    lines += ["", "[protections]", f"degrade = {_list(policy.degrade)}", ""]
    return "\n".join(lines)
