"""Capability probes: what a sandbox can do, as data.

specimen      the specimens: found by path, read but not run
building      specimens in C, compiled once and kept by content
expectations  what should happen, by profile: data with a reason for each
verdict       observation × expectation → status; pure
artifact      one measurement as a document: written atomically, read strictly
command       how a specimen is started in a target
witnesses     files and services placed on the host that specimens try to reach
running       one specimen in one target; all of them in parallel
report        list, matrix, JSON, JUnit; pure
comparing     what flipped between two measurements; what a capability comes to
blame         which wall blocked it
marker        the pytest marker ``requires_capability``
"""
