"""The measuring unit: what can a sandbox do, as data.

specimen      the specimens: found by path, read but not run
building      specimens in C, compiled once and kept by content
expectations  what should happen, by profile: data with a reason for each
verdict       an observation × an expectation → a status; pure
artifact      one measurement as a document: written atomically, read strictly
command       how a specimen is started in a target
witnesses     things placed on the host for specimens to reach for
running       one specimen in one sandbox; all of them, in parallel, to the end
report        list, matrix, JSON, JUnit; pure
comparing     what flipped between two measurements; what a capability comes to
blame         which wall blocked it
marker        the pytest marker ``requires_capability``
"""
