"""A living sandbox under a name, for the command line: one process of the user's holds it, and
other processes of the same user reach it by a socket. No daemon, and nothing for other users.

names          what a sandbox may be called
directory      where the sockets are: a directory that only its user can enter, checked at each use
wire           messages between client and supervising process, with descriptors
peers          who is at the other end of a socket
client         a connection to a sandbox by its name
relay          a client's side of one command: its streams, its terminal, its end
detaching      becoming a process that no terminal holds, and reporting when it is ready
supervising    the process that holds one sandbox: what it is asked, and when it ends
commands       the commands of one sandbox: started, sent signals, listed, ended
journal        what background commands printed, and how each command ended
"""
