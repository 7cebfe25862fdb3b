"""Measuring sandboxes: case × target → outcome → store → history → findings → pages.

case       one thing measured, in one target
target     a backend with a policy fitted to it: the subject of a measurement
outcome    what came of a case; every status, and how it is shown
refused    a refusal as measurements keep it, with its remedy
blame      the walls that can be removed one by one, and how
versions   which version a sandbox, an interpreter or a tool is
probes/    capability probes: specimens, expectations, verdicts
skills/    cases of skills
suites/    other people's test programs, compared with a baseline
syscalls/  which system calls a sandbox supports, and which programs use
fuzz/      random programs of system calls, compared with the host
store/     what was measured: one SQLite file
history/   results over time: what flipped, since when, and what changed in between
campaign/  one measurement of everything: planned, performed, stored
findings/  what is wrong, and proposals that would fix it
pages/     what people read: Markdown documents and the HTML report
nightly    all of it: measure, compare, find, propose, write
"""
