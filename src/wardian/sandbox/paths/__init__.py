"""Paths of the host: which can be trusted, and acts on files that no link can redirect.

named          from a path that a caller names to the real one, by links that can be trusted
shared_before  the register of places that were shared for writing
own_files      what wardian itself runs on, never shared for writing
held           a directory that stays the one it was when it was opened
whole_files    files that wardian reads and writes for its caller, whole or not at all
removal        removing a directory that a guest filled
birth          when a directory was created
"""
