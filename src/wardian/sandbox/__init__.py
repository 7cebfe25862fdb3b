"""The sandbox: what a command may reach, how it is started, what came of it.

sandbox     the door: everything that executes goes through ``Sandbox``
ports       ports of a living sandbox: connected to, and forwarded to the host
asynchronous  the door on an asyncio loop, with the same words
rerunning   a command run again, with more allowed
workdir     a private work directory: made, removed, swept up
limits      a run's limits, as the kernel, the launcher and the result have them
host        what this host offers: kernel, ids, limits
files/      files of a sandbox, from outside
policy/     what a run may reach and use, and the files that say so
paths/      which of the host's paths can be trusted, and acting on files without following links
root/       what the guest finds inside: layout, shares, programs
run/        one run: planned, launched, attended to, its result
network/    a network by name: rules, resolver, gateway
refusals/   what was refused, and what would allow it
pool/       sandboxes, and interpreters, whose walls stand before their command is known
python/     a Python that stays: cells of code that share their state
backends/   the same door for each sandbox; one file each
doctor/     which walls and backends work on this host
compile     writes the compiled forms of our data; run by the build
"""
