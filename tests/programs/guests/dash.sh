#!/bin/sh
# The plain shell: functions, subshells, redirections, signals.
double() { echo $(($1 * 2)); }
echo "function $(double 21)"
(exit 9); echo "subshell $?"
sh -c 'kill -TERM $$'; echo "signalled $?"
nonexistent-command 2> /dev/null; echo "missing $?"
touch not-executable; ./not-executable 2> /dev/null; echo "not executable $?"; rm not-executable
printf '#!/bin/sh\necho "script $1"\n' > script; chmod +x script; ./script works; rm script
echo one > file; echo two >> file; while read -r line; do echo "read $line"; done < file; rm file
nohup sh -c 'echo nohup' 2> /dev/null
env -i sh -c 'echo "clean ${HOME:-none}"'
date -u -d @0 +%Y
