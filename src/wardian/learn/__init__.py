"""Learn the smallest policy under which runs pass, and prove that they pass under it.

learning.toml   what is kept although no run used it, and how much head-room limits get
data            that file as values
needs           what runs used, merged from their traces; pure, but for looking at programs' loaders
hosts           names and ports that were reached, as rules
places          paths to the few parts of /usr and /etc that hold them
libraries       what programs and modules are linked with, and links out of their directories
calls           system calls to those that stay allowed
limits          peaks to limits
draft           a policy to be proven, and its text with where each line comes from
learned         a file that was learned before, read again
adding          a learned policy and what one more run needs besides
editing         the text of a policy with more in it, comments kept
subjects        what is run: a command, a script, a case
proof           run, draft, run again, widen
report          what was proven, in words
"""
