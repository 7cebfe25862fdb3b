"""Skills shown to work: cases as data, run in one or more backends, compared, reported.

model      a case: what it is given, what must come of it
reading    cases read from TOML
granting   what a case asks for, against what the caller grants
checks     what came of it against what was expected; pure
patterns, matching    regular expressions of a skill, evaluated in a process of their own
running    one case in one backend
report     table, JSON, JUnit
"""
