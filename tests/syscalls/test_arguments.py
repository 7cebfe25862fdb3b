"""The roles of arguments are what the running kernel says that its parameters are."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from wardian import syscalls
from wardian.syscalls.names import family
from wardian.syscalls.roles import FAMILIES, NUMBERS, POINTERS

from .kernel import Parameter, Prototypes, traced, typed

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "syscall-table.md"

# What a kernel with nothing built in or left out would still not have: removed long ago, reserved
# and never used, or for 32-bit programs only.
GONE = {row.name for row in syscalls.rows() if row.group == "obsolete"}

# What a kernel may be built without.
OPTIONAL = {
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
    *("map_shadow_stack", "modify_ldt", "uprobe", "uretprobe", "acct", "bpf", "userfaultfd"),
}

# A type of the kernel's, and the roles that it may have.
BY_TYPE = {
    "uid_t": {"uid"},
    "gid_t": {"gid"},
    "pid_t": {"pid"},
    "umode_t": {"mode", "nodemode"},
    "clockid_t": {"clock"},
    "loff_t": {"offset"},
    "rwf_t": {"rwflags"},
    "mqd_t": {"fd"},
    "iovec *": {"iovec"},
    "sockaddr *": {"sockaddr", "out"},
    "user_msghdr *": {"msghdr"},
    "mmsghdr *": {"mmsghdr"},
    "open_how *": {"openhow"},
    "clone_args *": {"cloneargs"},
    "const sigset_t *": {"sigset"},
    "const __kernel_timespec *": {"timespec", "any"},
    "stat *": {"out"},
    "rusage *": {"out"},
}

# A name that the kernel gives to parameters of one kind, and the roles that these may have.
BY_NAME = {
    r"(.*_|old|new)?dfd|mountdirfd": {"dirfd"},
    r".*fd(in|out)?|fd_(in|out)": {"fd", "dirfd", "uint"},  # execveat's, and numbers to close up to
    r"path(name)?|filename|special(file)?|(from|to)_pathname|new_root|put_old|dir_name": {"path"},
    r"newname": {"path"},
    r"oldname": {"path", "str"},  # what a symbolic link says is no path of the call
    r"argv|envp": {"strs"},
    r"sig": {"signal", "in", "uint"},  # a mask in pselect6, a signature in rseq
    r"at_flags": {"atflags"},
    r"prot": {"prot"},
    r"family": {"sockfamily"},
    r"whence": {"whence"},
    r"resource": {"rlimit"},
    r"sigsetsize|usize|count|len|size": {"size", "offset", "inout", "uint", "int"},
}


def kernels(source: str) -> Prototypes:
    found = traced() if source == "traced" else typed()
    return found or pytest.skip(f"this kernel's syscalls can't be read as {source} by this user")


@pytest.mark.parametrize("source", ["traced", "typed"])
def test_every_call_has_as_many_arguments_as_in_this_kernel(source: str) -> None:
    prototypes = kernels(source)
    for row in syscalls.rows():
        if row.name in prototypes:
            theirs = [parameter.name for parameter in prototypes[row.name]]
            assert (row.name, len(row.arguments)) == (row.name, len(theirs)), theirs


@pytest.mark.parametrize("source", ["traced", "typed"])
def test_every_role_fits_the_parameter_of_this_kernel(source: str) -> None:
    misfits = [
        f"{row.name}: {role} for {parameter}"
        for row in syscalls.rows()
        for role, parameter in zip(row.arguments, kernels(source).get(row.name, []), strict=False)
        if not _fits(role, parameter)
    ]
    assert misfits == []


def test_few_calls_are_left_unchecked() -> None:
    arch = os.uname().machine
    here = {row.name for row in syscalls.rows() if row.number(arch) is not None}
    unchecked = here - kernels("traced").keys()
    assert unchecked <= GONE | OPTIONAL


def test_roles_are_words_of_the_vocabulary() -> None:
    used = {role for row in syscalls.rows() for role in row.arguments}
    used |= {role for command in FAMILIES for role in _taken(command)}
    assert used == {*POINTERS, *NUMBERS, *FAMILIES}
    assert len(POINTERS) + len(NUMBERS) + len(FAMILIES) == len(used)


def test_the_page_explains_every_role() -> None:
    page = PAGE.read_text(encoding="utf-8")
    families = {role: meaning for role, (_, meaning) in FAMILIES.items()}
    for role, meaning in (POINTERS | NUMBERS | families).items():
        assert f"| `{role}` | {meaning} |" in page


def test_a_directory_stands_before_its_path_and_an_address_before_its_length() -> None:
    for row in syscalls.rows():
        following = dict(zip(row.arguments, [*row.arguments[1:], ""], strict=False))
        if row.name != "open_by_handle_at":  # whose handle is the path
            assert following.get("dirfd", "path") == "path", row
        assert following.get("sockaddr", "addrlen") == "addrlen", row
        assert following.get("iovec", "size") == "size", row


def test_conditions_look_only_at_arguments_that_hold_the_value_itself() -> None:
    for row in syscalls.rows():
        for word in re.findall(r"\barg([0-5])\b", row.decision):
            role = row.arguments[int(word)]
            asked_for_null = f"high{word}" in row.decision
            is_protocol = (row.name, word) == ("socket", "2")
            is_value = role in {*FAMILIES, "mode", "pid", "uid", "gid"}
            assert asked_for_null or is_value or is_protocol, (row, role)


def _taken(role: str) -> set[str]:
    """The roles that commands of a family give to the arguments after them."""
    commands = family(role, "x86_64") + family(role, "arm64")
    return {taken for _, _, takes in commands for taken in takes or ()} - {"none"}


def _fits(role: str, parameter: Parameter) -> bool:
    if role == "any":
        return True
    if parameter.is_pointer != (role in POINTERS) and role != "addr":
        return False
    if parameter.is_read_only and role in ("out", "inout"):
        return False
    star, const = " *" * parameter.is_pointer, "const " * parameter.is_read_only
    for kind in (f"{const}{parameter.type}{star}", f"{parameter.type}{star}"):
        if role not in BY_TYPE.get(kind, {role}):
            return False
    return all(
        role in roles for name, roles in BY_NAME.items() if re.fullmatch(name, parameter.name)
    )
