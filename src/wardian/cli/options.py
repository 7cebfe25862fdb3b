"""The options of a run, as data, for commands that run something or show its policy.

Parsed here, since importing click takes three times as long as starting Python; click only formats
the help. ``trace`` and ``learn`` accept the options of ``exec`` and ``run``.
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
    """``metavar`` is empty for a flag; ``several``: repeatable; ``default`` is shown in help."""

    name: str
    metavar: str
    help: str
    several: bool = False
    short: str = ""
    default: str = ""

    @property
    def described(self) -> str:
        """The help text, with the default and whether the option is repeatable."""
        default = f"  [default: {self.default}]" if self.default else ""
        return self.help + (" Repeatable." if self.several else "") + default


POLICY_OPTIONS = (
    Option("work", "DIR", "Share DIR read-write at /work, where the command starts.",
           default="private and temporary"),
    Option("read", "PATH[:AT]", "Share a file or directory read-only.", several=True),
    Option("write", "PATH[:AT]", "Share a file or directory read-write.", several=True),
    Option("rootfs", "DIR|TAR", "Use this root file system instead of the host's /usr."),
    Option("env", "NAME[=VALUE]", "Set a variable; NAME alone passes yours.", several=True),
    Option(
        "net",
        "none|HOST[:PORTS]|ask|host",
        "Allow connections to HOST; ask: ask on the terminal; host: use the host's network.",
        several=True,
        default="none",
    ),
    Option("interface", "", "Add a network interface besides lo, which leads nowhere."),
    Option("time", "DURATION", "Limit wall-clock time: 30s, 5m, 1h or none.", default="10m"),
    Option("cpu", "DURATION", "Limit CPU time of all processes together.", default="10m"),
    Option("memory", "SIZE", "Limit memory, private files included: 512M, 2G or none.",
           default="4G"),
    Option("processes", "COUNT", "Limit processes and threads.", default="512"),
    Option("files", "COUNT", "Limit open files per process.", default="512"),
    Option("disk", "SIZE", "Limit bytes written to files.", default="2G"),
    Option("output", "SIZE", "Limit standard output and error together.", default="64M"),
    Option("policy", "FILE|PRESET",
           "Use a policy file (*.toml) or preset; see `wardian policy presets`.",
           default="default"),
    Option("allow-syscall", "NAME", "Allow a system call.", several=True),
    Option("debug", "", "Allow gdb, strace and py-spy on the guest's own processes."),
    Option("explain", "", "Report every lookup of a file that is not shared; slower."),
    Option("degrade", "NAME", "Run without this wall if need be; the result says so.",
           several=True),
)  # fmt: skip
_SURROUNDINGS = (
    Option("with", "PACKAGE", "Install a Python package, or npm:NAME for Node.", several=True),
    Option("python", "VERSION", "Use this Python version, e.g. 3.12.",
           default="what the skill requires"),
    Option("no-deps", "", "Do not install the skill's declared dependencies."),
    Option("offline", "", "Use cached packages only."),
    Option("build", "", "Allow build and install scripts of packages, in a sandbox."),
    Option("grant", "", "Allow the network access that the skill requests."),
    Option("state", "NAME", "Keep a directory between runs, read-write at /state."),
    Option("out", "DIR", "Copy files written to /work to DIR after the run."),
    Option("force", "", "With --out: allow a directory that is not empty."),
)  # fmt: skip
SKILL_OPTION = Option("skill", "SKILL", "Share a skill at /skill, with its packages on PATH.")
# With one of these, packages or a skill have to be prepared before the run.
ASSEMBLED = frozenset(option.name for option in (SKILL_OPTION, *_SURROUNDINGS))

RUN_OPTIONS = (
    *_SURROUNDINGS,
    *POLICY_OPTIONS,
    Option("cwd", "DIR", "Working directory inside.", default="/work"),
    Option("backend", "NAME", "wardian, landlock, bubblewrap, gvisor, or host (no sandbox).",
           default="wardian"),
    Option("tty", "auto|yes|no", "Give the guest a terminal; auto: if stdin and stdout are one.",
           default="auto"),
    Option("record", "DIR", "Record the run in DIR, for `wardian log`; none: do not record."),
    Option("json", "", "Capture the output and print the result as one JSON document."),
    Option("verbose", "", "Also print walls, limits, usage, refusals; -vv: every one.", short="v"),
    Option("quiet", "", "Print only errors.", short="q"),
    Option("help", "", "Show this message and exit.", short="h"),
)  # fmt: skip
EXEC_OPTIONS = (SKILL_OPTION, *RUN_OPTIONS)
INSIDE_OPTIONS = (
    Option("sandbox", "NAME", "Run in the living sandbox that `wardian up NAME` started."),
    Option("background", "", "With --sandbox: start the command, print its number and return."),
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
    (Importing getopt or argparse, with re and gettext, takes a quarter of the time of a run.)
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
            raise UsageError(f"unknown option {name}", hint=_suggestion(name, known))
        if equals and not option.metavar:
            raise UsageError(f"{name} takes no value")
        if option.metavar and not equals:
            if not words:
                raise UsageError(f"{name} needs a value: {name} {option.metavar}")
            value = words.pop(0)
        values = given.setdefault(option.name, [])
        values.append(value)
        if option.metavar and not option.several and len(values) > 1:
            raise UsageError(f"{name} can be used only once")
    return given, words


def parse_between(args: list[str], options: Sequence[Option]) -> tuple[Given, list[str]]:
    """Options before, between and after SKILL and SCRIPT; the words from the third on are ARGS."""
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
                raise UsageError(f"--{option.name} can be used only once")
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
    return "list options with --help; put options of the command itself after --"


def one(given: Given, name: str) -> str | None:
    """The value of an option that is not repeatable."""
    return given[name][0] if name in given else None


def verbosity(given: Given) -> int:
    """How often ``-v`` was given: 1 reports every run in full, 2 the routine refusals as well."""
    return len(given.get("verbose", ()))


def choice(given: Given, name: str, choices: Sequence[str]) -> str:
    """The value of an option with these choices; the first is the default."""
    value = one(given, name) if name in given else choices[0]
    if value is None or value not in choices:
        allowed = ", ".join(choices[:-1]) + " or " + choices[-1]
        raise UsageError(f"--{name}: {value!r} is not {allowed}")
    return value


# Other programs' words for network modes: never meant as host names.
_NO_MODES = frozenset(
    ("all", "any", "bridge", "default", "full", "internet", "names", "no", "on", "yes")
)


ASK = "ask"


def _network(policy: Policy, words: list[str]) -> Policy:
    if "none" in words and len(words) > 1:
        raise UsageError("--net none and another --net cannot be combined")
    if ASK in words and "host" in words:
        raise UsageError("--net host and --net ask cannot be combined")
    for mode in ("none", "host"):  # the host's network includes every name
        if mode in words:
            return policy.without_rules(mode)
    for word in _NO_MODES.intersection(words):
        raise UsageError(f"--net: {word!r} is not none, ask, host or a host name")
    from wardian.sandbox.network.rules import parse_rule

    rules = [str(parse_rule(word)) for word in words if word != ASK]
    allowed = tuple(dict.fromkeys((*policy.allow_hosts, *rules)))
    return policy._replace(network="names", allow_hosts=allowed)


def policy_of(given: Given, base: Policy | None = None, *, may_ask: bool = False) -> Policy:
    """The policy of these options, based on ``base`` or on the policy of --policy. ``may_ask``:
    the command supports ``--net ask``. Raises UsageError and PolicyError."""
    if ASK in given.get("net", ()) and not may_ask:
        raise UsageError(
            "--net ask works with exec, run and trace only",
            hint="allow hosts by name: --net HOST",
        )
    from wardian.cli import settings

    named = settings.named_policy(given) if base is None else one(given, "policy")
    policy = base if base is not None else settings.policy_before_options(given)
    if "net" in given:
        policy = _network(policy, given["net"])
    if "work" in given:
        policy = policy._replace(work=_work(given["work"][0]))
    shares = [*_shares(given, "read", write=False), *_shares(given, "write", write=True)]
    if shares:
        policy = policy.with_shares(shares)
    limits = {_LIMITS[name][0]: limit(name, given[name][0]) for name in _LIMITS if name in given}
    if base is None:
        limits = _limits_of_environment() | limits
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
    if named is not None and is_file(named):
        refuse_writable_policy(named, policy)
    return policy


def _limits_of_environment() -> dict[str, float | None]:
    """The limits set by ``WARDIAN_TIME`` and the like. Raises UsageError."""
    from wardian.cli.settings import limit_variable

    found: dict[str, float | None] = {}
    for name, (field, _) in _LIMITS.items():
        text = os.environ.get(limit_variable(name))
        if text:
            found[field] = limit(name, text, limit_variable(name))
    return found


def is_file(name: str | None) -> bool:
    """Whether --policy names a file: it ends in .toml or contains a slash."""
    return name is not None and (name.endswith(".toml") or "/" in name)


def refuse_writable_policy(path: str, policy: Policy) -> None:
    """A guest must not be able to write the policy of a later run. Raises PolicyError."""
    from wardian.errors import PolicyError
    from wardian.sandbox.root.shares import is_below

    real = os.path.realpath(os.path.expanduser(path))
    written = [share.path for share in policy.shares if share.write]
    for place in (*written, *([policy.work] if policy.work is not None else [])):
        if is_below(real, os.path.realpath(place)):
            raise PolicyError(
                f"lies in {place}, which the guest may write to: it could widen its own policy",
                path=path,
                hint="move the policy file out of directories that are shared for writing",
            )


def base_policy(name: str | None) -> Policy:
    """A preset by name, or a policy file: a name that ends in .toml or contains a slash."""
    from wardian.errors import PolicyError
    from wardian.sandbox.policy.policy import Policy

    if name is None:
        return Policy.default()
    if is_file(name):
        return Policy.from_toml(name)
    try:
        return Policy.preset(name)
    except PolicyError as error:
        more = "; the name of a policy file ends in .toml or contains a slash"
        raise PolicyError(str(error), hint=(error.hint or "") + more) from None


def _work(text: str) -> str:
    if not text:
        raise UsageError("--work: must be a directory")
    return os.path.normpath(os.path.join(os.getcwd(), os.path.expanduser(text)))


def _rootfs(given: Given, policy: Policy) -> str:
    text = given["rootfs"][0]
    if not text:
        raise UsageError("--rootfs: must be a directory or a tar file")
    if one(given, "backend") == "host":
        raise UsageError("--rootfs and --backend host cannot be combined")
    from wardian.runner.rootfs import root_directory

    return root_directory(text, policy)


def _shares(given: Given, name: str, *, write: bool) -> Iterable[Share]:
    from wardian.sandbox.policy.policy import Share

    for text in given.get(name, ()):
        if not text:
            raise UsageError(f"--{name}: must be a path")
        yield Share.parse(text, write=write, base=os.getcwd())


def limit(name: str, text: str, spelt: str | None = None) -> float | None:
    """The value of a limit option; None for no limit. ``spelt`` is where it was given, if not as
    an option. Raises UsageError."""
    from wardian.sandbox.policy import units

    read: Callable[[str], float | None] = getattr(units, _LIMITS[name][1])
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{spelt or f'--{name}'}: {error}") from None


def variable(text: str) -> tuple[str, str]:
    """The name and value of --env. Raises UsageError."""
    from wardian.sandbox.policy.policy import check_environment_name

    name, equals, value = text.partition("=")
    check_environment_name(name)
    if equals:
        return name, value
    if name not in os.environ:
        raise UsageError(
            f"--env: {name} is not set in your environment",
            hint=f"give it a value: --env {name}=VALUE",
        )
    return name, os.environ[name]


def bounded_duration(option: str, text: str, such: str) -> float:
    """A finite duration in seconds. Raises UsageError."""
    from wardian.sandbox.policy.units import parse_duration

    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--{option}: {error}") from None
    if not seconds or seconds <= 0:
        raise UsageError(f"--{option}: must be finite and greater than zero, e.g. {such}")
    return seconds
