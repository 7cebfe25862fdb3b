"""One run: planned, launched, attended to, its result.

plan      policy × host → exactly what the launcher will do
landlock  Landlock's rights by ABI version, and the rules that repeat the mounts
records   the form in which the launcher reads a plan
launcher  starting the launcher
streams   which of the launcher's stream kinds serves each of the caller's streams
process   ``Process``: a run under way, and the ways to wait for it
status    what the launcher reported → a result or an error
result    ``Result``: the guest's end, what it used, which walls held, what was refused
"""
