# The ordinary work of bash: what a shell does, arrays, here documents, substitution, job control.
set -euo pipefail
mkdir -p bash/below
mapfile -t lines < <(printf 'b\na\n')
declare -A seen=([a]=1)
[[ ${lines[0]} == b && -n ${seen[a]} ]]
cat >bash/list <<<"${lines[*]}"
sort bash/list | tee bash/copy | grep -c a >/dev/null
{ sleep 0.01; exit 3; } &
wait $! || true
set -m
sleep 0.01 &
wait
trap 'caught=yes' USR1
kill -USR1 $$
read -r -t 0.01 nothing <&- 2>/dev/null || true
exec 7>bash/log
echo "$(date)" >&7
exec 7>&-
shopt -s globstar
for name in bash/**; do :; done
rm -r bash
