"""Measured syscall support of a sandbox, beside the syscalls that programs use.

cells      the checks of a syscall's specimens in one sandbox → supported, partial, denied, missing
matrix     all of them, differences from the host, and what policy explains
measuring  the measurements: artifacts that are there, or made now
programs/  small programs in each language, to be traced
usage      the syscalls that interpreters, tools and skills make, traced
report     the matrix as JSON and as text
refresh    writes syscalls/knowledge.tsv from what can be generated; for those who keep the table
"""
