"""What a guest was refused, and what would allow it.

reading     the supervisor's notes → refusals that are worth reporting
notes       what stands in a note
files       files that a guest could not have
network     names, addresses, ports and sockets; and who in the guest asked for what
others      calls, processes and limits
forks       a limit on processes that a short run met
ranking     which refusals matter to a person, and in which order
installs    what a package tool was asked to install, from its command line
remedies    the option, and the policy lines, that would allow it
asked_host  questions to the host about what a guest named, each asked once
hostpath    whether the host has a path that a guest named
"""
