"""Files of a sandbox, from outside. The guest wrote them, so nothing here follows a link, opens a
device or a pipe, or believes a name: each step starts at an open directory and takes one name.

files     ``Files``: what a caller does with them
places    which directory a path inside lies in, and the way to it
problems  what the kernel refused → an error with the guest's path
values    ``FileInfo``, ``CopyReport``, ``FileChange``: what is found, copied, noticed
opening   regular files opened, and made, whoever exchanges them meanwhile
acting    on files as another user
trail     going down and up a tree with one descriptor, however deep
walking   every directory of a tree, once
copying   files and trees, into the sandbox and out of it
watching  ``Watch``: changes, as they happen
watched   the directories that are watched, and what the kernel's events mean
inotify   the kernel's interface for that
"""
