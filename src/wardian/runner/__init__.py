"""Skill × sandbox: a skill's script, with its interpreter and its dependencies, in a run.

location       SKILL as given → a directory on this disk
plugin         the plugin around it, whose files a run shares read-only
script         SCRIPT as given → a file in it, and the interpreter it asks for
pythons, interpreters     what this host has to run it with
needs          what the script says it needs
whole_skill    what all of a skill needs, for a command that may start any script
requested      what --with names
wishes         what the skill asks for in its SKILL.md, and the caller grants or not
undeclared     what it imports besides, by itself or by the skill's own modules
absent         what a program missed, from the last of its standard error
indexes        where packages come from: the user's own settings
guest_indexes  what of them a guest with the network gets, and the rules that reach them
shims/         `pip`, `python`, `uv`, `npm` and `npx` inside, for what is prepared
packages/      what it needs, prepared once and kept; nothing of it is trusted
assembly       from a skill and a script to the call that runs it, dependencies prepared
invocation     that call: command, variables and shares of one run
outputs        what the run wrote, looked at without following a link
keeping        the same kept in a directory of the caller's
changed_skill  a copy of the skill whose changes are kept there, too
sources, installing, installs    skills of a source, copied to where agents look, and the record
state          directories that last from run to run
rootfs         another root file system for the guest, from a directory or a tar
rootfs_packing, image, elf    a skill with all that it needs, packed as one
cases/         skills shown to work: cases, oracles, reports

Nothing of a skill is executed, imported or used as a working directory out here. The modules that
every run needs import next to nothing, so that a run starts as fast as the sandbox does.
"""
