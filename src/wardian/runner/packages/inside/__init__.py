"""Programs of wardian's that run inside the sandboxes of a preparation, never outside.

They are started as files, by whichever Python the environment is for (3.8 or later), isolated and
without its site packages; ``packaging`` lies beside them there.
"""
