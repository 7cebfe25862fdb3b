"""Seeing through the glass: what a run did and was refused, kept and explained.

events         the records of core/trace.c, as they come
actions        what a call does with the files that it names
trace          everything that a run did, as one value
follow         it as lines, while it runs
timeline       it as a timeline, for viewers of such
grouping       many paths told as few
record         one run written down: a directory with its result, policy, digests and output
masking        what keeps the caller's secrets out of it
evidence       which program was run, and its digest
journal        the records of a directory: listed, found, pruned

Nothing here enforces anything; a run is held by the sandbox alone.
"""
