"""Values on one line, for whoever prints them: short, harmless on a terminal, the facts that matter
and never the output itself. Pure."""

from __future__ import annotations

from wardian.text import cut, printable, quoted, signal_name

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.sandbox.policy.policy import Limits, Policy
    from wardian.sandbox.run.result import Refusal, Result, Usage

MOST = 200
COMMAND = 80


def command_text(command: Sequence[str]) -> str:
    """A command line, as short as a glance takes."""
    words: list[str] = []
    for word in command:  # a word may be a whole program: no more is looked at than is shown
        words.append(quoted(printable(word[:COMMAND])))
        if sum(map(len, words)) >= COMMAND:
            break
    return cut(" ".join(words) + (" …" if len(words) < len(command) else ""), COMMAND)


def result_line(result: Result) -> str:
    """How it ended, how long it took, how much it wrote, what stood in its way."""
    end = result.reason
    facts = [f"exit {result.exit_code}" if end == "exited" else f"{end}, exit {result.exit_code}"]
    if end == "signal" and result.signal is not None:
        facts = [f"{signal_name(result.signal)}, exit {result.exit_code}"]
    facts.append(f"{result.usage.wall_s:.3g} s")
    cut_short = " (truncated)" if result.truncated else ""
    facts.append(f"{len(result.stdout)} + {len(result.stderr)} bytes{cut_short}")
    if result.refusals:
        facts.append(f"{len(result.refusals)} refused")
        causes = result.likely_causes
        if causes:
            facts.append(f"likely: {_what(causes[0], 60)}")
    return f"<Result {command_text(result.command)}: {', '.join(facts)}>"


def refusal_line(refusal: Refusal) -> str:
    """What was refused, why, and what would allow it."""
    times = f" ({refusal.count} times)" if refusal.count > 1 else ""
    reason = cut(printable(refusal.reason), 80)
    allow = f"; allow: {cut(printable(refusal.allow.flag), 100)}" if refusal.allow else ""
    return f"<Refusal {refusal.kind}: {_what(refusal, 100)}{times}: {reason}{allow}>"


def _what(refusal: Refusal, most: int) -> str:
    return cut(printable(f"{refusal.action} {refusal.target}"), most)


def usage_line(usage: Usage) -> str:
    """Time, memory, processes."""
    from wardian.sandbox.policy.units import human_bytes

    return (
        f"<Usage {usage.wall_s:.3g} s, CPU {usage.cpu_s:.3g} s, "
        f"{human_bytes(usage.peak_memory_bytes)}, {usage.processes} processes, "
        f"output {usage.stdout_bytes + usage.stderr_bytes} bytes>"
    )


def policy_line(policy: Policy) -> str:
    """What it gives: files, network, limits, and what is unusual; of variables only the names."""
    facts = [_network(policy)]
    if policy.work is not None:
        facts.append(f"work {printable(policy.work)}")
    for kind, shares in (
        ("read", [one for one in policy.shares if not one.write and not one.copy]),
        ("copy", [one for one in policy.shares if one.copy]),
        ("write", [one for one in policy.shares if one.write]),
    ):
        if shares:
            facts.append(f"{kind} {_several([str(share) for share in shares])}")
    if policy.rootfs is not None:
        facts.append(f"rootfs {printable(policy.rootfs)}")
    for kind, names in (
        ("env", [name for name, _ in policy.set_env]),
        ("allow calls", policy.allow_syscalls),
        ("deny calls", policy.deny_syscalls),
        ("degrade", policy.degrade),
    ):
        if names:
            facts.append(f"{kind} {_several(names)}")
    facts += limits_shown(policy.limits)
    return f"<Policy {cut(', '.join(facts), MOST)}>"


def _network(policy: Policy) -> str:
    if policy.network == "names":
        return f"network {_several(policy.allow_hosts) or 'names'}"
    return f"network {policy.network}"


def _several(names: Sequence[str]) -> str:
    shown = " ".join(printable(name[:COMMAND]) for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def limits_shown(limits: Limits) -> list[str]:
    """``time 1m``, ``memory 4G``: those that are set, in the spelling of their options."""
    from wardian.sandbox.policy.policy import LIMIT_FIELDS
    from wardian.sandbox.policy.units import format_duration, format_size

    found = []
    for name, field in LIMIT_FIELDS.items():
        value = getattr(limits, field)
        if isinstance(value, (int, float)):
            seconds, size = field.endswith("_s"), field.endswith("_bytes")
            text = format_duration(value) if seconds else format_size(int(value)) if size else value
            found.append(f"{name} {text}")
    return found


def failure_text(result: Result) -> tuple[str, str]:
    """Of a command that failed: one message of a few lines, and the end of its standard error. What
    the guest wrote is made harmless."""
    tail = stderr_end(result.stderr or result.stderr_tail)
    lines = [f"{command_text(result.command[:1])} ended with {result.exit_code} ({result.reason})"]
    if result.detail:
        lines[0] += f": {cut(printable(result.detail), MOST)}"
    if tail:
        lines.append("standard error ends with:")
        lines += [f"  {line}" for line in tail.splitlines()]
    causes = result.likely_causes
    for one in causes[:CAUSES]:
        allow = f" (allow: {cut(printable(one.allow.flag), MOST)})" if one.allow else ""
        reason = cut(printable(one.reason), MOST)
        lines.append(f"likely cause: {_what(one, MOST)}: {reason}{allow}")
    if len(causes) > CAUSES:
        lines.append(f"… and {len(causes) - CAUSES} more in likely_causes")
    return "\n".join(lines), tail


CAUSES = 3
TAIL_LINES = 10
TAIL_BYTES = 4096


def stderr_end(data: bytes) -> str:
    """The last lines, each cut and harmless; empty if there are none."""
    text = data[-TAIL_BYTES:].decode("utf-8", "replace")
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    return "\n".join(cut(printable(line), MOST) for line in lines[-TAIL_LINES:])
