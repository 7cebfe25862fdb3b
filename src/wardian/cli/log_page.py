"""Records formatted for people, with control characters escaped: the list, and one run. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wardian.sandbox.policy.units import human_bytes
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.observe.journal import JournalEntry

_STATES = {
    "running": "is in progress",
    "incomplete": "is incomplete: wardian was killed before the run ended",
    "damaged": "is damaged: record.json cannot be read",
}
_LABEL = 13


def table(found: Sequence[JournalEntry], width: int | None) -> list[str]:
    """One line per run: ID, start, exit code, time, refusals, command, and an unusual end."""
    rows = [_row(entry) for entry in found]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
    lines = []
    for row in rows:
        left = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        right = [row[i].rjust(widths[i]) for i in (2, 3, 4)]
        lines.append("  ".join((*left, *right, row[5])).rstrip())
    if width is not None:
        lines = [line if len(line) <= width else line[: width - 1] + "…" for line in lines]
    return lines


def _row(entry: JournalEntry) -> tuple[str, ...]:
    from wardian.observe.journal import started_s

    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(started_s(entry.id)))
    if entry.document is None:
        return entry.short, when, "-", "", "", f"({entry.state})"
    end = entry.document["end"]
    command = _command(entry.document)
    if end is None:
        return entry.short, when, "-", "", "", f"{command}  ({entry.state})"
    note = "" if end["reason"] == "exited" else f"  ({printable(end['error'] or end['reason'])})"
    refused = f"{end['refusals']} blocked" if end["refusals"] else ""
    return (
        entry.short,
        when,
        f"exit {end['exit_code']}",
        f"{end['wall_s']:.2f} s",
        refused,
        command + note,
    )


def _command(document: dict[str, Any]) -> str:
    import shlex

    words = " ".join(shlex.quote(word) for word in document["command"])
    if document["skill"] is not None:
        skill = document["skill"]
        words = f"{skill['name']}: {words}"
    return printable(words)


def page(entry: JournalEntry, result: dict[str, Any] | None) -> list[str]:
    """One run in full."""
    document = entry.document
    head = f"run {entry.id}"
    if entry.state in _STATES:
        head += f" {_STATES[entry.state]}"
    lines = [head]
    if document is None:
        return [*lines, _line("record", entry.path)]
    lines += [
        _line("command", _command(document)),
        _line("started", _when(document)),
        _line("by", _who(document)),
        _line("in", document["cwd"] or "a deleted directory"),
        *_skill(document["skill"]),
        _line("program", _evidence(document["program"])),
    ]
    lines += _ending(document, result)
    lines += _refusals(result)
    lines += _left_running(result)
    lines += [
        _line("policy", f"{document['policy_digest']}, see policy.toml"),
        *_variables(document["environment"]),
        _line("output", _output(document["output"])),
        _line("wardian", f"{document['wardian']}, backend {document['backend']}"),
        _line("record", entry.path),
    ]
    return lines


def printed(name: str, data: bytes) -> list[str]:
    """The content of a stream, line by line, with control characters escaped."""
    if not data:
        return ["", f"{name}: nothing"]
    text = data.decode("utf-8", "surrogateescape")
    broken = text.removesuffix("\n").split("\n")
    return ["", f"{name}:", *(f"  {_shown(line)}".rstrip() for line in broken)]


def _shown(line: str) -> str:
    # Bytes that are not UTF-8 arrive as lone surrogates and are shown as \xff.
    return "".join(
        f"\\x{ord(one) - 0xDC00:02x}" if "\udc80" <= one <= "\udcff" else printable(one)
        for one in line.removesuffix("\r").replace("\t", "    ")
    )


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL}}{printable(text)}"


def _when(document: dict[str, Any]) -> str:
    return f"{document['started']}" + (
        f", ended {document['ended']}" if document["ended"] is not None else ""
    )


def _who(document: dict[str, Any]) -> str:
    who, host = document["who"], document["host"]
    name = f"{who['user']} (uid {who['uid']})" if who["user"] else f"uid {who['uid']}"
    return f"{name}, on {host['name']} ({host['kernel']}, {host['machine']})"


def _skill(skill: dict[str, Any] | None) -> list[str]:
    if skill is None:
        return []
    digest = skill["digest"] or f"no digest: {skill['why']}"
    return [
        _line("skill", f"{skill['name']}, {skill['script']}, from {skill['path']}"),
        _line("", digest),
    ]


def _evidence(program: dict[str, Any]) -> str:
    if program["path"] is None:
        return f"unknown: {program['why']}"
    return f"{program['path']}, {program['digest'] or program['why']}"


def _ending(document: dict[str, Any], result: dict[str, Any] | None) -> list[str]:
    end = document["end"]
    if end is None:
        return []
    if end["error"] is not None:
        return [_line("ended", f"exit {end['exit_code']}: wardian failed: {end['error']}")]
    how = "" if end["reason"] == "exited" else f" ({end['reason']})"
    lines = [_line("ended", f"exit {end['exit_code']}{how}, after {end['wall_s']:.2f} s")]
    detail = (result or {}).get("detail")
    if isinstance(detail, str) and detail:
        lines.append(_line("", detail))
    usage = (result or {}).get("usage")
    if isinstance(usage, dict):
        lines.append(_line("used", _used(usage)))
    return lines


def _used(usage: dict[str, Any]) -> str:
    def number(key: str) -> float:
        found = usage.get(key)
        return found if isinstance(found, int | float) else 0

    processes = int(number("processes"))
    return (
        f"{number('cpu_s'):.2f} s CPU, {human_bytes(number('peak_memory_bytes'))} of memory, "
        f"{processes} process{'es' if processes != 1 else ''}"
    )


def _refusals(result: dict[str, Any] | None) -> list[str]:
    found = (result or {}).get("refusals")
    refusals = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    lines = []
    for number, one in enumerate(refusals):
        lines.append(_line("blocked" if number == 0 else "", _refusal(one)))
        allow = one.get("allow")
        if isinstance(allow, dict) and isinstance(allow.get("flag"), str):
            lines.append(_line("", f"  allow: {allow['flag']}"))
    return lines


def _left_running(result: dict[str, Any] | None) -> list[str]:
    found = (result or {}).get("left_running")
    left = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    lines = []
    for number, one in enumerate(left):
        words, listening = str(one.get("command") or ""), one.get("listening")
        if isinstance(listening, list) and listening:
            words += f" (listening on {', '.join(str(address) for address in listening)})"
        lines.append(_line("left running" if number == 0 else "", words))
    return lines


def _refusal(one: dict[str, Any]) -> str:
    process = one.get("process")
    who = process.get("command") if isinstance(process, dict) else process
    words = who if isinstance(who, list) else [who] if who else []
    target, action = str(one.get("target") or ""), str(one.get("action") or "")
    what = target if target.startswith(action) else f"{action} {target}".rstrip()
    count = one.get("count")
    times = f" ×{count}" if isinstance(count, int) and count > 1 else ""
    parts = (
        one.get("kind"),
        f"{what}{times}",
        " ".join(str(word) for word in words),
        one.get("reason"),
    )
    return "  ".join(str(part) for part in parts if part)


def _variables(environment: dict[str, Any]) -> list[str]:
    listed = []
    for label, names in (("passed", environment["passed"]), ("set", environment["set"])):
        if names:
            listed.append(f"{', '.join(names)} {label}")
    return [_line("variables", f"{'; '.join(listed)} (names only)")] if listed else []


def _output(kept: dict[str, Any]) -> str:
    if not kept["captured"]:
        return f"not kept: {kept['why']}"
    return ", ".join(_stream(name, kept[name]) for name in ("stdout", "stderr"))


def _stream(name: str, stream: dict[str, Any]) -> str:
    size = stream["bytes"] if stream["bytes"] is not None else stream["kept_bytes"]
    text = f"{name} {size} byte{'s' if size != 1 else ''}"
    return text + (f" (the first {stream['kept_bytes']} are kept)" if stream["cut"] else "")
