"""Seeing through the glass: what a run did and was refused, kept and explained.

record         one run written down: a directory with its result, policy, digests and output
masking        what keeps the caller's secrets out of it
evidence       which program was run, and its digest
journal        the records of a directory: listed, found, pruned

Nothing here enforces anything; a run is held by the sandbox alone.
"""
