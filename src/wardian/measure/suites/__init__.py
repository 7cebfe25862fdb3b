"""Other people's tests: programs of many cases, run in any sandbox and compared with a baseline.

programs     which programs a suite is made of, how each reports its results, what it needs
execution    one run of a program in a target: set up, watched, ended in time
outcomes     what came of a case and of a program: values, and their documents
gtest        googletest's list of cases, its running output, its report, its filters
lines        the other protocols: TAP, and plain exit codes
selection    which cases are wanted: globs and shards
charging     output, report and end of a run → outcomes of its cases
cases        the cases of a googletest program: listed, run, and run on after a crash or a hang
running      one program in one target, or one case of it by itself
suspecting   the wall that likely blocked a case, from the calls that it made
keeping      results in a directory, and what of them still counts
suite        all programs in all targets, in parallel; lost cases are run again
blaming      which wall it is, found by taking walls away
comparing    cases that pass in the baseline and not in a sandbox, and why
sources      C++ sources of tests: cases, and the system calls that each names
work         a run's work directory: made ready before, read after
catalogue    a tree of such sources beside the table of system calls
report       lines, JSON and JUnit
"""
