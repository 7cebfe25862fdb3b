"""Measuring sandboxes: case × target → outcome → store → history → findings → pages.

case       one thing that is measured, in one sandbox
target     a backend with a policy fitted to it: what is measured
outcome    what came of a case; every status, and how it is shown
refused    a refusal as measurements keep it, with its remedy
blame      the walls that can be taken away one by one, and the ways to
versions   which version a sandbox, an interpreter or a tool is
probes/    capability probes: specimens, expectations, verdicts
skills/    cases of skills
suites/    other people's test programs, compared with a baseline
syscalls/  which system calls a sandbox supports, and which programs use
fuzz/      random programs of system calls, compared with the host
store/     what was measured: one SQLite file
history/   results over time: what flipped, since when, and what came between
campaign/  one measuring of everything: what to measure, measured, kept
findings/  what is wrong, and proposals that would fix it
pages/     what people read: Markdown documents and the HTML report
nightly    all of it: measure, compare, find, propose, write
"""
