# Pipelines, substitutions, jobs, traps, here-documents, globs: what a shell script leans on.
set -u
echo "pipeline $(seq 1 1000 | sort -rn | head -n 3 | tr '\n' ' ')"
diff <(printf 'a\nb\n') <(printf 'a\nc\n') && echo same
echo "status ${PIPESTATUS[0]}"; false | true | sh -c 'exit 3'; echo "pipe ${PIPESTATUS[*]}"
cat <<END
here $((6 * 7)) ${BASH_VERSINFO[0]:+bash}
END
for i in 1 2 3; do (sleep 0.0$i; echo $i > "job$i") & done
wait
echo "jobs $(cat job?)"
sleep 100 & pid=$!
kill $pid; wait $pid; echo "killed $?"
trap 'echo "trapped USR1"' USR1
kill -USR1 $$
trap 'echo "bye"' EXIT
coproc upper { tr a-z A-Z; }
echo hello >&"${upper[1]}"; exec {upper[1]}>&-
read -r line <&"${upper[0]}"; echo "coproc $line"
set -m
sleep 0.1 & jobs -r | grep -c sleep
wait
set +m
mkdir -p tree/{a,b}/{c,d}; touch tree/{a,b}/{c,d}/f.txt
shopt -s globstar; echo tree/**/*.txt
find tree -name '*.txt' -print0 | xargs -0 -n 2 echo
exec 5<>/dev/tcp/127.0.0.1/1 2>/dev/null || echo "no server"
echo "$(: < /dev/null)fd $(ls /proc/self/fd | wc -l)"
mktemp -d > /dev/null && echo "mktemp"
printf 'x%.0s' {1..100000} | wc -c
ulimit -n 32; ulimit -n
umask 077; touch private; stat -c %a private
timeout 0.1 sleep 5; echo "timeout $?"
rm -rf tree job? private
time_is=$( { TIMEFORMAT=%R; time sleep 0.01; } 2>&1 ); case $time_is in 0*) echo timed;; esac
