"""Seeing through the glass: what a run did and was refused, kept and explained.

events         the records of core/trace.c, as they come
actions        what a call does with the files that it names
trace          everything that a run did, as one value
"""
