"""Every cure that wardian prints, applied: the error goes away, or the test shows why it can't.

hints        the hints that the code can print, found in its syntax tree
tables       the cures, each with the command that fails and what to apply
test_cures   applies them
test_hosts   applies those that change the host, in user namespaces of its own
test_count   counts the hints that no cure of the tables covers; the count may only fall
"""
