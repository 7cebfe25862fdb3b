"""The Linux syscall ABI as data, for x86-64 and arm64: what each call is, and what we decided.

table.tsv      one row per syscall; adding a syscall is adding a row
table          the rows, and questions about them
conditions     the language of the ``decision`` column
constants      the names that language knows
roles          the words of the ``arguments`` column
effects        the language of the ``effects`` column
watching       rows to what the supervisor looks at although it is allowed
names, names.tsv           what the headers call values and flags of arguments
decode         a call as text that people can read
filter         rows to a seccomp filter
confined, confined.tsv     what is decided otherwise about a guest without namespaces
knowledge, knowledge.tsv   who uses each call, and what tests it
"""

from __future__ import annotations

from wardian.syscalls.filter import compile_filter
from wardian.syscalls.table import Row, groups, lookup, name_of, number, rows

__all__ = [
    "Row",
    "compile_filter",
    "groups",
    "lookup",
    "name_of",
    "number",
    "rows",
]
