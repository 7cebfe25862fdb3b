# The ordinary work of a POSIX shell: files, pipes, children, a trap. It prints nothing.
set -eu
mkdir -p shell/below
printf 'b\na\n' >shell/list
while read -r line; do :; done <shell/list
sort <shell/list | tail -n 1 >shell/last
[ -s shell/last ] && test -d shell/below
for name in shell/*; do :; done
before=$(cat shell/list)
trap 'caught=yes' USR1
kill -USR1 $$
sleep 0.01 &
wait $!
(cd shell && umask 077 && echo "$before" >>log 2>&1)
rm -r shell
