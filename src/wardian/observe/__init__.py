"""Traces and records: what a run did and what was refused.

events         the records of core/trace.c, as they come
actions        what a call does with the files that it names
trace          everything that a run did, as one value
follow         a trace as lines, while the run goes on
timeline       a trace as a timeline, for trace viewers
grouping       many paths summarised as few
record         one run written down: a directory with its result, policy, digests and output
masking        keeps the caller's secrets out of a record
evidence       which program was run, and its digest
journal        the records of a directory: listed, found, pruned

Nothing here enforces anything; a run is held by the sandbox alone.
"""
