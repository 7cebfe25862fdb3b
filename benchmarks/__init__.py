"""Times of wardian beside other sandboxes, from one interleaved run: ``python benchmarks/run.py``.

contestants  what takes part: its walls, its version, and how it runs a command
peers, oci, libraries  one small entry per other sandbox
measuring    rounds in which every contestant has its turn, and what is made of the times
figures      one module per figure: what is run and reported
targets      what must be reached, and whether it was
report       the table for people, and the document for programs
"""
