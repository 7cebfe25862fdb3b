"""``wardian learn``: derive the smallest policy under which a skill's cases, or a command, pass."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from wardian.cli import output, running
from wardian.cli.options import ASSEMBLED, EXEC_OPTIONS, Given, Option, one, parse, policy_of
from wardian.cli.progress import PreparationProgress, Progress, interruptible
from wardian.errors import NothingMatched, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from wardian.learn.learned import LearnedFile
    from wardian.learn.proof import Learned
    from wardian.learn.subjects import Subject
    from wardian.runner.location import Located
    from wardian.runner.script import Chosen
    from wardian.sandbox.policy.policy import Policy

_NOT_HERE = ("grant", "out", "force", "tty", "record", "backend", "json", "verbose", "rootfs")
OWN_OPTIONS = (
    Option("to", "FILE", "Write the proven policy to FILE (default: standard output).",
           short="o"),
    Option("add", "POLICY", "Widen a learned POLICY by what these runs need."),
    Option("runs", "COUNT", "Trace and prove each run this many times.", default="1"),
    Option("exit", "CODE", "The exit code that counts as success.", default="0"),
    Option("input", "FILE", "Standard input of each run; - for your own.", default="empty"),
    Option("cases", "FILE", "The file of cases.", default="cases.toml in the skill"),
    Option("case", "GLOB", "Only cases whose name matches GLOB."),
    Option("json", "", "One JSON document on stdout."),
    Option("verbose", "", "Also print each difference from the policy the runs had.", short="v"),
)  # fmt: skip
LEARN_OPTIONS = (
    *OWN_OPTIONS,
    *(option for option in EXEC_OPTIONS if option.name not in _NOT_HERE),
)
MOST_RUNS = 100

HELP = """Trace runs, write the smallest policy under which they pass, and prove it.

Runs each SCRIPT with ARGS; with SKILL alone, all of its cases; or a COMMAND. The policy allows only
the files, system calls, variables and network that were used, with some headroom in the limits.
Everything then runs again under that policy; refused accesses are added and the proof repeated, a
few times at most. Only a proven policy is written. Scripts run several times, also on --work.

With --add, the accesses that a learned POLICY lacks are added to it and shown as a diff.
"""
EXAMPLES = """\b
Examples:
  wardian learn skills/csv-report -o csv-report.toml
  wardian learn skills/csv-report report.py --work . -o ~/report.toml -- sales.csv
  wardian learn --runs 3 -o ~/make.toml --work . -- make -j4
  wardian learn --add ~/report.toml skills/csv-report report.py --work . -- large.csv --chart

\b
Exit code: 0 proven and written, 1 no policy could be proven, 2 usage, 3 no case matches."""


def run(args: list[str]) -> int:
    """Run ``wardian learn ARGS`` and return its exit code. Raises WardianError."""
    given, words, rest, is_command = parsed(args)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["learn", "--help"])
    if not words and not rest:
        raise UsageError(
            "no skill or command given",
            hint="wardian learn SKILL [SCRIPT…] [OPTIONS] [-- ARGS…], or wardian learn -- COMMAND",
        )
    with ExitStack() as stack:
        from wardian.runner.location import located

        if is_command:
            _refuse_cases(given)
            name = one(given, "skill")
            shared = stack.enter_context(located(name)) if name is not None else None
            subjects, what = [_command(shared, rest, given)], exec_words(rest)
        else:
            if "skill" in given:
                raise UsageError(
                    "--skill needs a command", hint="for a script: wardian learn SKILL SCRIPT"
                )
            skill = stack.enter_context(located(words[0]))
            if len(words) > 1:
                subjects = _scripts(skill, words[1:], rest, given)
                what = f"{', '.join(words[1:])} of {skill.name}"
            else:
                if rest:
                    raise UsageError("arguments given, but no script")
                subjects = _cases(skill, given)
                what = f"the cases of {skill.name}"
        return _learn(subjects, what, given)


def parsed(args: Sequence[str]) -> tuple[Given, list[str], list[str], bool]:
    """Options, words before --, words after it, and whether only options came before --.

    Raises UsageError.
    """
    given: Given = {}
    words: list[str] = []
    left, ended = list(args), False
    while left and not ended:
        more, rest = parse(left, LEARN_OPTIONS)
        ended = "--" in left[: len(left) - len(rest)]
        for option in LEARN_OPTIONS:
            values = more.get(option.name, [])
            if option.name in given and values and option.metavar and not option.several:
                raise UsageError(f"--{option.name} can be given only once")
            if values:
                given.setdefault(option.name, []).extend(values)
        if ended or not rest:
            left = rest
            break
        words.append(rest[0])
        left = rest[1:]
    return given, words, left if ended else [], ended and not words


def exec_words(argv: Sequence[str]) -> str:
    """The command quoted for a shell."""
    from wardian.text import quoted

    return " ".join(quoted(word) for word in argv)


def _refuse_cases(given: Given) -> None:
    for name in ("cases", "case"):
        if name in given:
            raise UsageError(f"--{name} applies to a skill's cases only")


def _number(given: Given, name: str, usual: int, most: int) -> int:
    text = one(given, name) or str(usual)
    least = 1 if name == "runs" else 0
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise UsageError(f"--{name}: {text!r} is not a number from {least} to {most}")
    return int(text)


def _input(given: Given) -> bytes | None:
    path = one(given, "input")
    if path is None:
        return None
    if path == "-":
        import sys

        return sys.stdin.buffer.read()
    try:
        from wardian.sandbox.paths.whole_files import read_input

        return read_input(path, option="--input")
    except OSError as error:
        raise UsageError(f"--input {path}: {(error.strerror or '').lower()}") from None


# Subjects


def _command(skill: Located | None, argv: list[str], given: Given) -> Subject:
    from wardian.learn.subjects import Command

    if not ASSEMBLED.isdisjoint(given):
        return _assembled(skill, None, argv, exec_words(argv), given, _input(given))
    cwd, code = running.working_directory(given), _number(given, "exit", 0, 255)
    return Command(tuple(argv), cwd, _input(given), code)


def _scripts(skill: Located, names: list[str], args: list[str], given: Given) -> list[Subject]:
    from wardian.runner.script import choose

    _refuse_cases(given)
    scripts = [choose(skill.path, name, skill.plugin) for name in names]
    stdin = _input(given)
    return [_assembled(skill, script, args, script.path, given, stdin) for script in scripts]


def _assembled(
    skill: Located | None,
    script: Chosen | None,
    words: list[str],
    name: str,
    given: Given,
    stdin: bytes | None,
) -> Subject:
    from wardian.cli.assembled import wanted_of
    from wardian.learn.subjects import AssembledSubject
    from wardian.runner.assembly import assembled
    from wardian.runner.interpreters import Missing

    with PreparationProgress(quiet="quiet" in given) as say:
        call = assembled(skill, script, words, wanted_of(skill, given), say=say)
    if isinstance(call, Missing):
        raise UsageError(call.why, hint=call.hint)
    cwd, code = running.working_directory(given), _number(given, "exit", 0, 255)
    return AssembledSubject(name, call, cwd, stdin, code)


def _cases(skill: Located, given: Given) -> list[Subject]:
    from fnmatch import fnmatchcase

    from wardian.learn.subjects import CaseSubject
    from wardian.runner.cases.reading import DEFAULT_FILE, read_cases
    from wardian.runner.cases.running import Options

    for name in ("exit", "input", "state", "with", "cwd", "work"):
        if name in given:
            raise UsageError(f"--{name} applies to scripts and commands; each case sets its own")
    path = one(given, "cases") or os.path.join(skill.path, DEFAULT_FILE)
    known = read_cases(path) if os.path.lexists(path) or "cases" in given else []
    pattern = one(given, "case") or "*"
    chosen = [case for case in known if fnmatchcase(case.name, pattern)]
    if not chosen:
        raise NothingMatched(
            f"no case for {skill.name}" + (f" matches {pattern!r}" if known else ""),
            hint=f"name a script, or write cases in {DEFAULT_FILE} in the skill",
        )
    options = Options(
        policy=allowed_of(given),
        no_deps="no-deps" in given,
        offline="offline" in given,
        build="build" in given,
        say=output.say,
    )
    return [CaseSubject(skill, case, options, with_set_up="add" in given) for case in chosen]


# Learning, writing, reporting


def _learn(subjects: list[Subject], what: str, given: Given) -> int:
    from wardian import __version__
    from wardian.learn import report
    from wardian.learn.draft import text
    from wardian.learn.proof import LearningListener, learn
    from wardian.learn.subjects import CaseSubject
    from wardian.text import printable

    file, target = added_to(given), one(given, "to")
    _check_target(target)
    if file is not None and target is None:
        target = os.path.realpath(file.path)
    alone = all(isinstance(subject, CaseSubject) for subject in subjects)
    progress = Progress("learn", unit=" runs", quiet="quiet" in given)
    allowed = allowed_of(given)
    if allowed.rootfs is not None:
        raise UsageError("learn does not support --rootfs; it learns parts of the host's /usr")
    kept = f"{target} stays as it was" if file is not None else "no policy was written"
    with interruptible(f"{kept}; run it again"), progress:
        learned = learn(
            subjects,
            allowed,
            runs=_number(given, "runs", 1, MOST_RUNS),
            jobs=min(4, os.cpu_count() or 1) if alone else 1,
            say=progress.say,
            add_to=file,
            listener=LearningListener(
                progress.more, lambda name: progress.advance(note=printable(name))
            ),
        )
    if file is not None:
        return _add(file, learned, what, target, given)
    arch = os.uname().machine
    content = text(learned.draft, report.header(learned, what, __version__, arch))
    if target is not None:
        write(target, content, learned)
        _warn_of_place(target)
    if "json" in given:
        output.print_json(report.document(learned, content, arch))
    elif target is None:
        output.print_text(content.rstrip("\n"))
    if "quiet" not in given and "json" not in given:
        _report(learned, target, arch, verbose="verbose" in given)
    return 0


def added_to(given: Given) -> LearnedFile | None:
    """The policy file named by --add. Raises UsageError and PolicyError."""
    path = one(given, "add")
    if path is None:
        return None
    if "policy" in given:
        raise UsageError(
            "--add and --policy cannot be combined",
            hint="runs are traced under the default policy plus what POLICY allows",
        )
    from wardian.learn.learned import read_learned

    return read_learned(os.path.expanduser(path))


def allowed_of(given: Given) -> Policy:
    """The policy of the traced runs. Raises UsageError and PolicyError."""
    from wardian.cli.options import refuse_writable_policy

    file = added_to(given)
    if file is None:
        return _learnable(policy_of(given))
    from wardian.learn.adding import ceiling

    allowed = policy_of(given, ceiling(_learnable(file.policy)))
    refuse_writable_policy(file.path, allowed)
    return allowed


def _learnable(policy: Policy) -> Policy:
    if policy.tls:
        raise UsageError(
            "learn does not support rules for requests ([network.tls])",
            hint="learn under a policy without them, then add them to the learned policy",
        )
    return policy


def _add(file: LearnedFile, learned: Learned, what: str, target: str | None, given: Given) -> int:
    """Write the widened policy file and print the changes as a diff."""
    from wardian import __version__
    from wardian.learn import report
    from wardian.learn.adding import widened
    from wardian.learn.learned import read_learned
    from wardian.text import printable

    header = report.addition_header(learned, what, __version__)
    content = widened(file, learned.draft, header, report.gains(learned, os.uname().machine))
    if target is not None and (content != file.text or "to" in given):
        if read_learned(file.path) != file:
            raise UsageError(
                f"--add {file.path}: the file changed during the run; nothing was written"
            )
        mode = os.stat(file.path).st_mode & 0o777  # keep the file's mode
        write(target, content, learned, mode)
        _warn_of_place(target)
    if "json" in given:
        document = report.document(learned, content, os.uname().machine)
        output.print_json(document | report.addition_document(file, learned.policy, content))
        return 0
    for line in report.diff(file.text, content, printable(file.path)):
        output.print_text(printable(line))
    if "quiet" not in given:
        proven = report.passed(learned.subjects, learned.runs)
        more = (
            "widened as shown"
            if content != file.text
            else "unchanged: it already allows these runs"
        )
        output.say(f"wardian: {printable(one(given, 'to') or file.path)}: {more}; {proven}")
    return 0


def _report(learned: Learned, target: str | None, arch: str, *, verbose: bool) -> None:
    from wardian.learn import report
    from wardian.text import printable

    name = printable(target) if target is not None else "this policy"
    output.say(f"wardian: {name}: {report.passed(learned.subjects, learned.runs)}; it allows:")
    for gain in report.gains(learned, arch):
        output.say(f"  {gain}")
    for other in learned.at_another_try:
        name = printable(other)
        output.say(
            f"wardian: flaky: {name} passed only when repeated, although nothing was refused"
        )
    if verbose:
        from wardian.sandbox.policy.difference import differences

        output.say("differences (A: policy of the traced runs, B: learned policy):")
        for difference in differences(learned.draft.allowed, learned.policy):
            output.say(f"  {printable(difference.text)}")


def _check_target(target: str | None) -> None:
    """Check that the policy can be written, before anything runs."""
    if target is None:
        return
    from wardian.sandbox.paths.named import trusted_path

    folder = trusted_path(os.path.dirname(trusted_path(target, "-o")), "-o")
    if not target or os.path.isdir(target) or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"-o {target!r} is not a writable file")
    if not target.endswith(".toml"):
        raise UsageError(
            f"-o {target!r}: a policy file's name must end in .toml",
            hint="--policy treats other names as presets",
        )


def _warn_of_place(target: str) -> None:
    from wardian.sandbox.paths.named import was_shared
    from wardian.text import printable

    shared = was_shared(os.path.realpath(target))
    if shared is not None:
        output.say(
            f"wardian: {printable(target)} lies in {printable(shared)}, which was shared for "
            "writing; move it elsewhere before using it with --policy"
        )


def write(target: str, content: str, learned: Learned, mode: int = 0o666) -> None:
    """Write the file atomically, after checking that it reads as the proven policy."""
    from wardian.errors import NotProven
    from wardian.sandbox.paths.whole_files import write_whole
    from wardian.sandbox.policy.file import parse_policy
    from wardian.sandbox.policy.policy import Policy

    if parse_policy(content, target, Policy.default()) != learned.policy:
        raise NotProven("the written file would not read as the proven policy")
    write_whole(target, content, mode=mode)


def __getattr__(name: str) -> click.Command:
    if name != "command":
        raise AttributeError(name)
    from wardian.cli.commands import rendered

    words = ("[skill]", "script...", "command_or_args...")
    return rendered("learn", run, LEARN_OPTIONS, words, HELP, EXAMPLES)
