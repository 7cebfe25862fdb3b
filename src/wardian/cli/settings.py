"""Settings: flag, then ``WARDIAN_…``, then project files (which may only tighten), then the user's
file, then what ships. docs/configuration.md describes them.

Every run comes through here, so this module is small: where there is no file it costs a few calls
of access(2), and nothing is imported. ``configured`` reads files.
"""

from __future__ import annotations

import os

from wardian.errors import UsageError
from wardian.homes import own_directory

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.cli.options import Given
    from wardian.sandbox.policy.policy import Policy

VARIABLE = "WARDIAN_RECORD"
POLICY_VARIABLE = "WARDIAN_POLICY"
BACKEND_VARIABLE = "WARDIAN_BACKEND"
OFF = "none"
PROJECT_FILE = "wardian.toml"
PYPROJECT = "pyproject.toml"
DEFAULT_BACKEND = "wardian"


def settings_file() -> str:
    """The path of the user's settings."""
    return os.path.join(own_directory("config"), "config.toml")


def trust_file() -> str:
    """The path of the digests of project files that the user trusts."""
    return os.path.join(own_directory("state"), "trusted-projects.json")


def limit_variable(name: str) -> str:
    """The variable of a limit: ``time`` → ``WARDIAN_TIME``."""
    return f"WARDIAN_{name.upper()}"


def directories() -> list[str]:
    """The working directory and its parents, the root last; none if it was deleted."""
    try:
        at = os.getcwd()
    except OSError:
        return []
    found = [at]
    while at != "/" and (above := os.path.dirname(at)) != at:
        found.append(above)
        at = above
    return found


def has_project_files() -> bool:
    """Whether a project file may apply here, or one that was trusted may be missing."""
    if os.access(trust_file(), os.F_OK):
        return True
    for directory in directories():
        place = directory.rstrip("/")
        if os.access(f"{place}/{PROJECT_FILE}", os.F_OK) or os.access(
            f"{place}/{PYPROJECT}", os.F_OK
        ):
            return True
    return False


def has_user_file() -> bool:
    """Whether the user has settings; also True for a path that cannot be read, to report that."""
    return os.access(settings_file(), os.F_OK)


def named_policy(given: Given) -> str | None:
    """The policy that the caller names, by option or variable."""
    if "policy" in given:
        return given["policy"][0]
    return os.environ.get(POLICY_VARIABLE) or None


def policy_before_options(given: Given) -> Policy:
    """The policy to which the options of a run are applied. Raises WardianError."""
    from wardian.cli.options import base_policy

    name = named_policy(given)
    if name is not None:
        return base_policy(name)
    if not has_user_file() and not has_project_files():
        return base_policy(None)
    from wardian.cli import configured

    return configured.configured_policy(given)


def backend_of(given: Given) -> str:
    """The backend of a run: none that is only measured. Raises WardianError."""
    name = _backend_of(given)
    if name != DEFAULT_BACKEND:
        from wardian.sandbox.backends import check_backends

        check_backends(name)
    return name


def _backend_of(given: Given) -> str:
    if "backend" in given:
        return given["backend"][0]
    name = os.environ.get(BACKEND_VARIABLE)
    if name:
        if name == "host":
            raise UsageError(
                f"{BACKEND_VARIABLE}: host is only accepted on the command line",
                hint="run without a sandbox: --backend host",
            )
        return name
    if not has_user_file():
        return DEFAULT_BACKEND
    from wardian.cli import configured

    return configured.user_settings().backend or DEFAULT_BACKEND


def with_accepted(policy: Policy, backend: str) -> Policy:
    """The policy for a run with this backend: without the walls that it lacks and that the user's
    file accepts to lack. Raises WardianError."""
    if not has_user_file():
        return policy
    from wardian.cli import configured

    return configured.accepting(policy, backend)


def record_directory(flag: str | None) -> str | None:
    """The directory to record this run in; None for no record. Raises WardianError."""
    if flag is not None:
        if not flag:
            raise UsageError("--record: must be a directory")
        return None if flag == OFF else os.path.abspath(os.path.expanduser(flag))
    given = os.environ.get(VARIABLE)
    if given is not None:
        if given in ("", OFF):
            return None
        path = os.path.expanduser(given)
        if not os.path.isabs(path):
            raise UsageError(f"{VARIABLE}: {given!r} is not an absolute path")
        return os.path.normpath(path)
    if not has_user_file():
        return None
    from wardian.cli import configured

    return configured.user_settings().record
