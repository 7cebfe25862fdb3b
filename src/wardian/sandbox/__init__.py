"""The boundary.

policy, policy_file   what a run may reach and use; presets/ are shipped policies
policy_difference     two of them compared by what they allow
units                 512M, 30s
host, layout          what this host offers; what every guest finds in its root
shares, programs      from names to sources that may be mounted
root, landlock, plan  policy × host → exactly what the launcher does
records               the form in which it is told
launcher, process     starting it; a run under way
status, result        what came of it
sandbox               the door: Sandbox.run
backends/             the same door for other sandboxes
"""
