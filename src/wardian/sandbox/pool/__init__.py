"""Sandboxes whose walls stand before their command is known.

pool         ``Pool``: the door
awaited      the same on an asyncio loop
stock        things made ahead of time in threads, each handed out once
interpreter  a Python that waits inside, its modules loaded
inside       the program that such a Python runs; never outside
"""
