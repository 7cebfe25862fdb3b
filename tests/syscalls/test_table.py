"""The table is complete, well formed, and answers the questions that are asked of it."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from wardian import syscalls
from wardian.errors import InputError, PolicyError, WallError
from wardian.syscalls.conditions import parse_guards
from wardian.syscalls.constants import CONSTANTS
from wardian.syscalls.table import COLUMNS, parse_table

from .reference import ROWS, TABLE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "syscall-table.md"

# Linux 6.18: x86-64 from arch/x86/entry/syscalls/syscall_64.tbl, arm64 from scripts/syscall.tbl,
# where 244 to 259 are for other architectures and 42 is nfsservctl, long gone.
NUMBERS = {
    "x86_64": {*range(337), *range(424, 470)},
    "arm64": {*range(244), *range(260, 295), *range(424, 470)},
}

# Where a name's number is newer than the libseccomp 2.5.4 that test_second_opinion asks; read in
# the tables of strace and libseccomp as of mid-2026, and probed on a 6.18 kernel.
RECENT = {
    "cachestat": 451,
    "fchmodat2": 452,
    "map_shadow_stack": 453,
    "futex_wake": 454,
    "futex_wait": 455,
    "futex_requeue": 456,
    "statmount": 457,
    "listmount": 458,
    "lsm_get_self_attr": 459,
    "lsm_set_self_attr": 460,
    "lsm_list_modules": 461,
    "mseal": 462,
    "setxattrat": 463,
    "getxattrat": 464,
    "listxattrat": 465,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_getattr": 468,
    "file_setattr": 469,
}


@pytest.mark.parametrize("arch", NUMBERS)
def test_every_number_of_linux_6_18_has_exactly_one_row(arch: str) -> None:
    numbers = [row.number(arch) for row in syscalls.rows() if row.number(arch) is not None]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == NUMBERS[arch]


def test_recent_calls_have_the_numbers_of_the_kernel_sources() -> None:
    for name, number in RECENT.items():
        assert (name, syscalls.lookup(name)[1:3]) == (name, (number, number))
    assert syscalls.lookup("uretprobe")[1:3] == (335, None)
    assert syscalls.lookup("uprobe")[1:3] == (336, None)


def test_rows_say_what_the_file_says() -> None:
    seen = [tuple("-" if field is None else str(field) for field in r) for r in syscalls.rows()]
    assert seen == [tuple(row.values()) for row in ROWS]


def test_rows_stand_in_the_order_of_their_x86_64_numbers() -> None:
    numbers = [row.x86_64 for row in syscalls.rows()]
    assert numbers == sorted(n for n in numbers if n is not None)


def test_every_row_has_a_decision_that_can_be_read() -> None:
    for row in syscalls.rows():
        assert re.fullmatch(r"[a-z_][a-z0-9_]*", row.name)
        assert row.decision in ("allow", "deny", "absent") or parse_guards(row.decision), row


def test_every_row_gives_its_reason_in_one_sentence() -> None:
    for row in syscalls.rows():
        assert re.fullmatch(r"[A-Zi].*[^. ]\.", row.reason), row.name
        assert ". " not in row.reason, row.name
        assert len(row.reason) < 200, row.name


def test_what_is_absent_is_obsolete_or_hides_its_mode() -> None:
    absent = {row.name for row in syscalls.rows() if row.kind == "absent"}
    obsolete = {row.name for row in syscalls.groups()["obsolete"]}
    assert absent == obsolete | {"openat2"}


def test_the_page_names_every_column_and_group() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for word in (*COLUMNS, *syscalls.groups()):
        assert f"`{word}`" in page


def test_rows_can_not_be_changed_and_are_compared_by_value() -> None:
    row = syscalls.lookup("read")
    with pytest.raises(AttributeError):
        row.decision = "deny"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        row.note = "x"  # type: ignore[attr-defined]
    assert row == parse_table(TABLE.read_text(encoding="utf-8"))["read"]


def test_names_and_numbers_lead_to_each_other() -> None:
    for arch in ("x86_64", "arm64", "aarch64"):
        for row in syscalls.rows():
            number = syscalls.number(row.name, arch)
            assert number is None or syscalls.name_of(number, arch) == row.name
    assert syscalls.name_of(999, "x86_64") is None
    assert syscalls.number("open", "arm64") is None


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(PolicyError, match="no syscall 'opnat'") as caught:
        syscalls.lookup("opnat")
    assert caught.value.hint == "did you mean openat?"


def test_an_unknown_architecture_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WallError, match="riscv64") as caught:
        syscalls.number("read", "riscv64")
    assert "x86_64" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name\tx86_64\n", 1),
        ("\t".join(COLUMNS) + "\nread\t0\t63\tfiles\tallow\tfd\t-\n", 2),
        ("\t".join(COLUMNS) + "\nread\tzero\t63\tfiles\tallow\tfd\t-\tReads.\n", 2),
        ("\t".join(COLUMNS) + "\nread\t0\t63\tfiles\tallow\tfd\t-\tReads." * 2, 3),
    ],
    ids=["columns", "fields", "number", "twice"],
)
def test_a_malformed_table_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_table(text, "table.tsv")
    assert caught.value.line == line


def test_constants_agree_with_the_standard_library() -> None:
    for module in (errno, os, socket, stat, termios):
        for name in CONSTANTS.keys() & vars(module).keys() - {"S_IFMT"}:  # a function in stat
            assert (name, CONSTANTS[name]) == (name, getattr(module, name))
    assert CONSTANTS["S_IFMT"] == stat.S_IFMT(0xFFFFFFFF)
    assert CONSTANTS["SET_ID_BITS"] == stat.S_ISUID | stat.S_ISGID
    assert CONSTANTS["O_TMPFILE_BIT"] == os.O_TMPFILE & ~os.O_DIRECTORY
    assert CONSTANTS["NAMESPACE_FLAGS"] == sum(
        value
        for name, value in CONSTANTS.items()
        if name.startswith("CLONE_NEW") and name != "CLONE_NEWTIME"
    )


def test_every_constant_is_used_or_explains_one_that_is() -> None:
    also = TABLE.with_name("watching.py").read_text(encoding="utf-8")
    text = TABLE.read_text(encoding="utf-8") + also
    unused = {name for name in CONSTANTS if not re.search(rf"\b{name}\b", text)}
    parts = {"S_ISUID", "S_ISGID", *(name for name in unused if name.startswith("CLONE_NEW"))}
    assert unused == parts


def test_compiling_a_filter_imports_next_to_nothing() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import os, wardian.errors; before = set(sys.modules)\n"
        "import wardian.syscalls as s; s.compile_filter('x86_64')\n"
        "print(*set(sys.modules) - before)"
    )
    source = str(Path(syscalls.__file__).parents[2])
    output = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, source],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    ours = {name for name in output.split() if name.startswith("wardian.")}
    assert set(output.split()) - ours <= {"errno", "struct", "_struct"}
