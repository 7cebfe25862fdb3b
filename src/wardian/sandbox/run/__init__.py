"""One run: planned, launched, attended to, its result.

plan      policy × host → exactly what the launcher will do
protections  which walls stand: requested, available, enforced
filter    the syscall filter of a policy
landlock  Landlock's rights by ABI version, and the rules that repeat the mounts
records   the form in which the launcher reads a plan
launcher  starting the launcher
streams   which of the launcher's stream kinds serves each of the caller's streams
starting  from launching to a handle, whatever signals come
process   ``Process``: the handle of a run under way
interrupting  a pool whose runs end when the caller is interrupted
place     a living sandbox: the launcher asked for one command after another
living    what a command of a living sandbox has besides: its terminal, its ports
interaction  ``Output`` and ``Input``: talking to a command while it runs
traffic   the bytes of a run: its streams and what its supervisor says
child     the supervisor as a process: waited for, looked after
event_loop   waiting for a run on an asyncio loop
status    what the launcher reported → a result or an error
left_running  of it, the processes that were still running at the end
unreached  networks that a guest could not reach, as it happens
failures  why a run could not be set up, and what to do
result    ``Result``: the guest's end, what it used, which walls held, what was refused
reason    ``Reason``: why a run ended, as a type
weight    ``Weight``: how much a refusal matters, as a type
shown     results, refusals and policies on one line
"""
