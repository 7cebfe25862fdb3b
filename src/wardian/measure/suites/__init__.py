"""Other people's tests: programs of many cases, run in any sandbox and compared with a baseline.

programs     which programs a suite is made of, how each tells its results, what it needs
outcomes     what came of a case and of a program: values, and their documents
gtest        googletest's list of cases, its running output, its report, its filters
lines        the other protocols: TAP, and plain exit codes
selection    which cases are wanted: globs and shards
running      one program in one sandbox: listed, run, and run on after a crash or a hang
execution    one execution of it: set up, watched, ended in time
work         its work directory: made ready before, read after
charging     which case is charged with what
suspecting   the wall that a case likely met, where nothing was seen refused
suite        all programs in all sandboxes, some at a time
keeping      results that are kept, and which of them still count
blaming      which wall it is, found by taking walls away
comparing    what passes in the baseline and not here, and why
sources      C++ sources of tests: cases, and the system calls that each names
catalogue    a tree of such sources beside the table of system calls
report       lines, JSON and JUnit
"""
