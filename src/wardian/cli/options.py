"""The options that describe a run, as data, for the commands that run something or show its policy.

Parsed by hand, since click costs three times the start of Python; click only draws the help.
``trace`` and ``learn`` take the words of ``exec`` and ``run``, and so read them the same way.
"""

from __future__ import annotations

import os

from wardian.errors import UsageError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import NamedTuple

    from wardian.sandbox.policy.policy import Policy, Share
else:
    from wardian.values import NamedTuple

Given = dict[str, list[str]]


class Option(NamedTuple):
    """``metavar`` is empty for a flag; ``several`` allows the option more than once."""

    name: str
    metavar: str
    help: str
    several: bool = False
    short: str = ""


POLICY_OPTIONS = (
    Option("work", "DIR", "Share DIR read-write at /work, where the command starts."),
    Option("read", "PATH[:AT]", "Share a file or directory read-only.", several=True),
    Option("write", "PATH[:AT]", "Share a file or directory read-write.", several=True),
    Option("rootfs", "DIR|TAR", "Another root file system, in place of the host's /usr."),
    Option("env", "NAME[=VALUE]", "Set a variable; NAME alone passes yours.", several=True),
    Option(
        "net",
        "none|HOST[:PORTS]|ask|host",
        "Reach HOST by name; ask: about others, on the terminal; host: all of your network.",
        several=True,
    ),
    Option("interface", "", "A network interface besides lo, for programs that look for one."),
    Option("time", "DURATION", "Limit by the clock: 30s, 5m, 1h, none."),
    Option("cpu", "DURATION", "Limit of CPU time, all processes together."),
    Option("memory", "SIZE", "Limit of memory, private files included: 512M, 2G, none."),
    Option("processes", "COUNT", "Limit of processes and threads."),
    Option("files", "COUNT", "Limit of open files in one process."),
    Option("disk", "SIZE", "Limit of what may be written to files."),
    Option("output", "SIZE", "Limit of standard output and error together."),
    Option("policy", "FILE|PRESET", "Start from a policy file (*.toml), or a shipped preset."),
    Option("allow-syscall", "NAME", "Let a system call pass the filter.", several=True),
    Option("debug", "", "Let debuggers work on the run's own processes: gdb, strace, py-spy."),
    Option("explain", "", "Report every file that was looked for and is not shared; slower."),
    Option("degrade", "NAME", "Give up the wall of that name, and show that.", several=True),
)
_SURROUNDINGS = (
    Option("with", "PACKAGE", "One more Python package, or npm:NAME for Node.", several=True),
    Option("python", "VERSION", "The Python to use: 3.12; whatever the skill requires."),
    Option("no-deps", "", "Prepare no dependencies, whatever the skill declares."),
    Option("offline", "", "Prepare dependencies from what is cached only."),
    Option("build", "", "Let dependencies run their build and install scripts, in a sandbox."),
    Option("grant", "", "Allow the network that the skill asks for, as it is shown."),
    Option("state", "NAME", "Keep a directory from run to run, read-write at /state."),
    Option("out", "DIR", "Keep the files that were written to /work, in DIR."),
    Option("force", "", "With --out: also into a directory that is not empty."),
)
SKILL_OPTION = Option("skill", "SKILL", "Share a skill at /skill, its packages first on PATH.")
# With one of these, what is around the command has to be put together first.
ASSEMBLED = frozenset(option.name for option in (SKILL_OPTION, *_SURROUNDINGS))

RUN_OPTIONS = (
    *_SURROUNDINGS,
    *POLICY_OPTIONS,
    Option("cwd", "DIR", "Working directory inside; /work unless given."),
    Option("backend", "NAME", "wardian, bubblewrap, gvisor, or host: no sandbox."),
    Option("tty", "auto|yes|no", "A terminal of its own; auto: if both ends are one."),
    Option("record", "DIR", "Keep a record of the run in DIR, for `wardian log`; none: keep none."),
    Option("json", "", "Capture the output and print the result as one document."),
    Option("verbose", "", "Print walls, limits, usage, refusals; -vv: the routine too.", short="v"),
    Option("quiet", "", "Tell nothing but errors.", short="q"),
    Option("help", "", "Show this message and exit.", short="h"),
)
EXEC_OPTIONS = (SKILL_OPTION, *RUN_OPTIONS)
INSIDE_OPTIONS = (
    Option("sandbox", "NAME", "Run in the sandbox that `wardian up NAME` started."),
    Option("background", "", "With --sandbox: leave it running, and print its number."),
)

_LIMITS = {
    "time": ("time_s", "parse_duration"),
    "cpu": ("cpu_s", "parse_duration"),
    "memory": ("memory_bytes", "parse_size"),
    "processes": ("processes", "parse_count"),
    "files": ("files", "parse_count"),
    "disk": ("disk_bytes", "parse_size"),
    "output": ("output_bytes", "parse_size"),
}


def parse(args: Sequence[str], known: Sequence[Option]) -> tuple[Given, list[str]]:
    """Options by name, and the words that follow them. Raises UsageError.

    ``--name value``, ``--name=value``, ``-v``; no abbreviations; ends at the first other word.
    (getopt and argparse load re and gettext, which take a quarter of the time that a run takes.)
    """
    by_word = {f"--{option.name}": option for option in known}
    by_word |= {f"-{option.short}": option for option in known if option.short}
    given: Given = {}
    words = list(args)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if word == "-vv" and "-v" in by_word:
            words[:0] = ["-v", "-v"]
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        option = by_word.get(name)
        if option is None:
            raise UsageError(f"there is no option {name}", hint=_suggestion(name, known))
        if equals and not option.metavar:
            raise UsageError(f"{name} takes no value")
        if option.metavar and not equals:
            if not words:
                raise UsageError(f"{name} needs a value: {name} {option.metavar}")
            value = words.pop(0)
        values = given.setdefault(option.name, [])
        values.append(value)
        if option.metavar and not option.several and len(values) > 1:
            raise UsageError(f"{name} can be given only once")
    return given, words


def parse_between(args: list[str], options: Sequence[Option]) -> tuple[Given, list[str]]:
    """Options before, between and after SKILL and SCRIPT; from the third word on, all is ARGS."""
    given: Given = {}
    words: list[str] = []
    rest = list(args)
    while rest:
        more, left = parse(rest, options)
        for option in options:
            values = more.get(option.name)
            if values is None:
                continue
            if option.name in given and option.metavar and not option.several:
                raise UsageError(f"--{option.name} can be given only once")
            given.setdefault(option.name, []).extend(values)
        ended = "--" in rest[: len(rest) - len(left)]
        if ended or len(words) == 2:
            return given, words + left
        words += left[:1]
        rest = left[1:]
    return given, words


def _suggestion(wrong: str, known: Sequence[Option]) -> str:
    import difflib

    near = difflib.get_close_matches(wrong, [f"--{option.name}" for option in known], 1, 0.6)
    if near:
        return f"did you mean {near[0]}?"
    return "--help tells the options; what follows -- belongs to the command"


def one(given: Given, name: str) -> str | None:
    """The value of an option that is given at most once."""
    return given[name][0] if name in given else None


def verbosity(given: Given) -> int:
    """How often ``-v`` was given: 1 reports every run in full, 2 the routine refusals as well."""
    return len(given.get("verbose", ()))


def choice(given: Given, name: str, choices: Sequence[str]) -> str:
    """The value of an option with few possible values; the first is the default."""
    value = one(given, name) if name in given else choices[0]
    if value is None or value not in choices:
        allowed = ", ".join(choices[:-1]) + " or " + choices[-1]
        raise UsageError(f"--{name}: {value!r} is not {allowed}")
    return value


# What other programs call their networks: never meant as the name of a host.
_NO_MODES = frozenset(
    ("all", "any", "bridge", "default", "full", "internet", "names", "no", "on", "yes")
)


ASK = "ask"


def _network(policy: Policy, words: list[str]) -> Policy:
    if "none" in words and len(words) > 1:
        raise UsageError("--net none and another --net exclude each other")
    if ASK in words and "host" in words:
        raise UsageError("--net host and --net ask exclude each other")
    for mode in ("none", "host"):  # the host's network includes every name
        if mode in words:
            return policy.without_rules(mode)
    for word in _NO_MODES.intersection(words):
        raise UsageError(f"--net: {word!r} is not none, host or the name of one")
    from wardian.sandbox.network.rules import parse_rule

    rules = [str(parse_rule(word)) for word in words if word != ASK]
    allowed = tuple(dict.fromkeys((*policy.allow_hosts, *rules)))
    return policy._replace(network="names", allow_hosts=allowed)


def policy_of(given: Given, base: Policy | None = None, *, may_ask: bool = False) -> Policy:
    """The policy that these options ask for, on top of ``base`` or of the one that --policy names.
    ``may_ask``: someone is asked about the rest of the network. Raises UsageError and
    PolicyError."""
    if ASK in given.get("net", ()) and not may_ask:
        raise UsageError(
            "--net ask is for one run on a terminal: exec, run and trace",
            hint="name the hosts: --net HOST",
        )
    policy = base if base is not None else base_policy(one(given, "policy"))
    if "net" in given:
        policy = _network(policy, given["net"])
    if "work" in given:
        policy = policy._replace(work=_work(given["work"][0]))
    shares = [*_shares(given, "read", write=False), *_shares(given, "write", write=True)]
    if shares:
        policy = policy.with_shares(shares)
    limits = {_LIMITS[name][0]: limit(name, given[name][0]) for name in _LIMITS if name in given}
    if limits:
        policy = policy.with_limits(**limits)
    if "env" in given:
        policy = policy.with_env(dict(variable(text) for text in given["env"]))
    if "allow-syscall" in given:
        allowed = tuple(dict.fromkeys((*policy.allow_syscalls, *given["allow-syscall"])))
        denied = tuple(name for name in policy.deny_syscalls if name not in allowed)
        policy = policy._replace(allow_syscalls=allowed, deny_syscalls=denied)
    policy = policy._replace(
        interface=policy.interface or "interface" in given,
        explain=policy.explain or "explain" in given,
    )
    if "debug" in given:
        policy = policy.debugging()
    if "degrade" in given:
        degrade = tuple(dict.fromkeys((*policy.degrade, *given["degrade"])))
        policy = policy._replace(degrade=degrade)
    if "rootfs" in given:
        policy = policy._replace(rootfs=_rootfs(given, policy))
    if is_file(one(given, "policy")):
        refuse_writable_policy(given["policy"][0], policy)
    return policy


def is_file(name: str | None) -> bool:
    """Does --policy name a file? A preset's name has no slash, and ends otherwise."""
    return name is not None and (name.endswith(".toml") or "/" in name)


def refuse_writable_policy(path: str, policy: Policy) -> None:
    """A run that could write its own policy would write the next run's. Raises PolicyError."""
    from wardian.errors import PolicyError
    from wardian.sandbox.root.shares import is_below

    real = os.path.realpath(os.path.expanduser(path))
    written = [share.path for share in policy.shares if share.write]
    for place in (*written, *([policy.work] if policy.work is not None else [])):
        if is_below(real, os.path.realpath(place)):
            raise PolicyError(
                f"lies in {place}, which the run may write to, so it could write its own rights",
                path=path,
                hint="keep the policy outside of what is shared for writing",
            )


def base_policy(name: str | None) -> Policy:
    """A preset by its name, or a file: whatever ends in .toml or holds a slash."""
    from wardian.errors import PolicyError
    from wardian.sandbox.policy.policy import Policy

    if name is None:
        return Policy.default()
    if is_file(name):
        return Policy.from_toml(name)
    try:
        return Policy.preset(name)
    except PolicyError as error:
        more = "; a file's name ends in .toml or has a slash in it"
        raise PolicyError(str(error), hint=(error.hint or "") + more) from None


def _work(text: str) -> str:
    if not text:
        raise UsageError("--work: a directory is needed")
    return os.path.normpath(os.path.join(os.getcwd(), os.path.expanduser(text)))


def _rootfs(given: Given, policy: Policy) -> str:
    text = given["rootfs"][0]
    if not text:
        raise UsageError("--rootfs: a directory or a tar is needed")
    if one(given, "backend") == "host":
        raise UsageError("--rootfs and --backend host exclude each other")
    from wardian.runner.rootfs import root_directory

    return root_directory(text, policy)


def _shares(given: Given, name: str, *, write: bool) -> Iterable[Share]:
    from wardian.sandbox.policy.policy import Share

    for text in given.get(name, ()):
        if not text:
            raise UsageError(f"--{name}: a path is needed")
        yield Share.parse(text, write=write, base=os.getcwd())


def limit(name: str, text: str) -> float | None:
    """The value of an option that is a limit; None for none. Raises UsageError."""
    from wardian.sandbox.policy import units

    read: Callable[[str], float | None] = getattr(units, _LIMITS[name][1])
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"--{name}: {error}") from None


def variable(text: str) -> tuple[str, str]:
    """The name and value that --env asks for. Raises UsageError."""
    from wardian.sandbox.policy.policy import check_environment_name

    name, equals, value = text.partition("=")
    check_environment_name(name)
    if equals:
        return name, value
    if name not in os.environ:
        raise UsageError(
            f"--env: {name} is not set here, so there is no value to pass",
            hint=f"give it one: --env {name}=VALUE",
        )
    return name, os.environ[name]


def bounded_duration(option: str, text: str, such: str) -> float:
    """Seconds, of something that must have an end. Raises UsageError."""
    from wardian.sandbox.policy.units import parse_duration

    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--{option}: {error}") from None
    if not seconds or seconds <= 0:
        raise UsageError(f"--{option}: it needs an end; write a duration such as {such}")
    return seconds
