"""The sandboxes of a preparation. *Fetch* reaches the index hosts and has the index settings, and
nothing that could execute a package. *Install* has neither, and one directory to write to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from wardian.runner.packages.model import Preparation, PreparationError, Say
from wardian.sandbox.policy.policy import Policy, Share
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.runner.indexes import Settings
    from wardian.runner.packages.reasons import Reason
    from wardian.sandbox.run.result import Result

FETCH = "/fetch"
ARCHIVES = "/archives"
TOOLS = "/mnt/wardian"
NO_PROGRAMS = "/var/empty"
SHOWN_PACKAGES = 12
LIMITS = {
    "time_s": 1800.0, "cpu_s": 3600.0, "memory_bytes": 8 << 30, "processes": 1024,
    "files": 4096, "disk_bytes": 32 << 30, "output_bytes": 16 << 20,
}  # fmt: skip
# Without these nothing starts a program: what a package manager can't start can't run.
STARTING = ("clone", "clone3", "fork", "vfork")


class Room(NamedTuple):
    """A policy, and where in it a command starts; ``secrets`` never appear in what is printed."""

    policy: Policy
    cwd: str
    secrets: tuple[str, ...] = ()
    proxies: Mapping[str, str] = {}


def fetching(
    job: Preparation,
    folder: str,
    settings: Settings,
    tools: Sequence[Share],
    *,
    alone: bool = False,
) -> Room:
    """Where archives come from. ``folder`` is written to; ``alone``: no process can be started."""
    from wardian.runner.packages.reach import reach_of

    reach = reach_of(settings, job.needs, os.environ)
    variables = {**reach.variables, **_private(FETCH), "PATH": NO_PROGRAMS}
    shares = [*tools, *settings.shares, Share(folder, FETCH, write=True)]
    policy = Policy.default().with_limits(**LIMITS).with_shares(shares).with_env(variables)
    if reach.allow and not job.offline:
        policy = policy._replace(
            network="names", allow_hosts=reach.allow, max_connections=None, max_per_second=None
        )
    if alone:
        policy = policy._replace(deny_syscalls=(*policy.deny_syscalls, *STARTING))
    return Room(policy, FETCH, settings.secrets, reach.proxies)


def installing(
    folder: str, at: str, archives: str, tools: Sequence[Share], variables: Mapping[str, str]
) -> Room:
    """Where archives become an environment: no network, no settings, one directory to write to."""
    shares = [*tools, Share(archives, ARCHIVES), Share(folder, at, write=True)]
    policy = Policy.default().with_limits(**LIMITS).with_shares(shares)
    policy = policy.with_env({**_private(os.path.join(at, ".tmp")), **variables})
    return Room(policy._replace(network="none"), at)


def reading(archive: str, name: str, tools: Sequence[Share]) -> Room:
    """Where one archive is read: no network, no settings, and nothing of the host to write to."""
    shares = [*tools, Share(archive, f"{ARCHIVES}/{name}")]
    limits = {**LIMITS, "output_bytes": 1 << 40}  # what is printed is counted by who writes it
    policy = Policy.default().with_limits(**limits).with_shares(shares)
    return Room(policy._replace(network="none"), ARCHIVES)


def compiling(environment: str, tools: Sequence[Share]) -> Room:
    """Where modules are compiled: the environment is read, and nothing of the host written to."""
    limits = {**LIMITS, "time_s": 60.0, "output_bytes": 1 << 30}
    policy = Policy.default().with_limits(**limits)
    policy = policy.with_shares([*tools, Share(environment, environment)])
    return Room(policy._replace(network="none"), environment)


def _private(place: str) -> dict[str, str]:
    """Each preparation has caches of its own, and no package manager reads settings of others."""
    return {
        "TMPDIR": place,
        "UV_CACHE_DIR": f"{place}/.uv",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "PIP_CACHE_DIR": f"{place}/.pip",
        "PIP_CONFIG_FILE": os.devnull,
        "npm_config_cache": f"{place}/.npm",
        "npm_config_userconfig": os.devnull,
        "npm_config_globalconfig": f"{place}/.no-npmrc",
        "npm_config_update_notifier": "false",
    }


def run(
    job: Preparation,
    room: Room,
    command: Sequence[str],
    tool: str,
    data: bytes | None = None,
    on_stdout: Callable[[bytes], None] | None = None,
) -> None:
    """Run one step to its end. Raises PreparationError with what the tool printed."""
    result, printed = attempt(job, room, command, data, on_stdout)
    if result.exit_code != 0:
        raise failure(job, tool, printed, result)


def attempt(
    job: Preparation,
    room: Room,
    command: Sequence[str],
    data: bytes | None = None,
    on_stdout: Callable[[bytes], None] | None = None,
) -> tuple[Result, str]:
    """Run one step; its result, and what it printed with passwords taken out."""
    from wardian.sandbox.paths.own_files import lent
    from wardian.sandbox.sandbox import Sandbox

    printed: list[bytes] = []

    def hear(piece: bytes) -> None:
        printed.append(piece)
        if os.isatty(2):
            for line in _without(room.secrets, piece).splitlines():
                job.say(f"  {short(line)}")

    written = [share.path for share in room.policy.shares if share.write]
    with lent(written), Sandbox(room.policy, private_work=True) as sandbox, _by(room.proxies):
        result = sandbox.run(
            list(command), cwd=room.cwd, input=data, on_stdout=on_stdout or hear, on_stderr=hear
        )
    return result, _without(room.secrets, b"".join(printed))


@contextmanager
def _by(proxies: Mapping[str, str]) -> Iterator[None]:
    """Runs that are started meanwhile dial by these proxies."""
    from wardian.sandbox.network.dialing import PROXIES

    before = PROXIES.set(proxies)
    try:
        yield
    finally:
        PROXIES.reset(before)


def _without(secrets: Sequence[str], printed: bytes) -> str:
    from wardian.runner.indexes import without_passwords

    text = printed.decode("utf-8", "replace")
    for secret in secrets:
        text = text.replace(secret, "****")
    return without_passwords(text)


def failure(
    job: Preparation, tool: str, printed: str, result: Result, known: Reason | None = None
) -> PreparationError:
    """A step that failed, as an error that says what helps; ``known`` is the reason, if it is."""
    from wardian.runner.packages.reasons import must_be_built, not_cached, reason_of, shown_lines

    reason = _of_network(result) or known or reason_of(printed)
    shown = "\n".join(shown_lines(tool, printed))
    if reason.cure:
        hint = f"{reason.cure}\n"
    elif not job.build and not reason.what and must_be_built(printed):
        hint = "packages that have to be built need --build, which lets them, in a sandbox\n"
    else:
        hint = "without --offline it could be fetched\n" if job.offline else ""
    why = result.reason if result.reason != "exited" else f"exit code {result.exit_code}"
    about = f": {reason.what}" if reason.what and not job.offline else f" ({why})"
    if job.offline and not_cached(printed):
        about = ": not all of it is in the cache"
    return PreparationError(
        f"{tool} could not prepare {wanted_text(job)}{about}",
        hint=f"{hint}{tool} said:\n{shown}" if shown else hint or None,
    )


def _of_network(result: Result) -> Reason | None:
    """Why a tool failed, if the network is why: a redirect to a host that is not allowed, or an
    index that does not answer."""
    from wardian.runner.packages.reach import MORE_HOSTS
    from wardian.runner.packages.reasons import Reason

    for one in result.refusals:
        if one.kind == "network" and one.allow is not None and one.allow.flag.startswith("--net "):
            host = one.allow.flag.removeprefix("--net ")
            return Reason(
                f"it was redirected to {printable(one.target)}, "
                "which is not in your index settings",
                f"if your index keeps its files there: {MORE_HOSTS}={host}",
            )
    for connection in result.connections:
        if connection.outcome == "failed":
            where = f"{printable(connection.name)}:{connection.port}"
            why = printable(connection.reason)
            return Reason(f"the package index can't be reached ({where}: {why})")
    return None


def not_allowed(what: str) -> PreparationError:
    """Something that only ``--build`` permits."""
    return PreparationError(
        what, hint="--build lets it, in a sandbox of its own that has neither network nor passwords"
    )


def noting(say: Say) -> Say:
    """For lines about what is under way: ``say.note``, where the caller shows such lines in another
    way than those that stay."""
    note: Say = getattr(say, "note", say)
    return note


def stepping(say: Say) -> Callable[[int, int], None]:
    """For how many packages of how many are there: ``say.step``, where the caller shows that."""
    step: Callable[[int, int], None] = getattr(say, "step", lambda done, total: None)
    return step


def wanted(job: Preparation) -> list[str]:
    """The packages asked for, as they are shown."""
    import json

    if job.needs.package_json is None:
        return [short(one) for one in job.needs.python] or ["an environment without packages"]
    document = json.loads(job.needs.package_json)
    names = {**document.get("dependencies", {}), **document.get("optionalDependencies", {})}
    return [short(name) for name in names]


def wanted_text(job: Preparation) -> str:
    """The same as one text, of which the first dozen are enough."""
    names = wanted(job)
    more = f" and {len(names) - SHOWN_PACKAGES:,} more" if len(names) > SHOWN_PACKAGES else ""
    return ", ".join(names[:SHOWN_PACKAGES]) + more


def short(text: str) -> str:
    """A text on one line, and not a long one."""
    return printable(text if len(text) <= 60 else text[:57] + "…")
