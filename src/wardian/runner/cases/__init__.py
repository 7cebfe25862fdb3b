"""Skills shown to work: cases as data, run in one or more backends, compared, reported.

model      a case, and how its TOML reads
checks     what came of it against what was expected; pure
running    one case in one backend
report     table, JSON, JUnit
"""
