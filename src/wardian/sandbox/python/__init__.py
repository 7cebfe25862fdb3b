"""A Python that stays: cells of code run one after another, and share their state.

session     ``PythonSession``: started, asked, interrupted, restarted
awaited     the same on an asyncio loop
channel     messages between it and the interpreter, of which nothing is trusted
outcome     what came of a cell
inside      the program that the interpreter runs; never outside
"""
