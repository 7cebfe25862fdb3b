"""Programs of wardian's that run inside the sandboxes of a preparation, never outside.

They are started as files, by whichever Python the environment is for (3.8 or later), isolated and
without its site packages; ``packaging`` lies beside them there.

explore    find the packages that come as source only
download   fetch archives
simple     package indexes, and the files that fit this Python
backend    what a source archive says about its build
unpack     print what a wheel holds
compile    print bytecode of modules and of what they import
"""
