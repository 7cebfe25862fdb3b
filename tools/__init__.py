"""Tools for people who work on wardian; nothing here is installed with it.

terminal   a command run on a terminal of its own, and what that terminal showed
quotes     the commands that the documentation quotes with their output: run, compare, refresh
pictures   pictures of a terminal for the README, drawn from real output
"""
