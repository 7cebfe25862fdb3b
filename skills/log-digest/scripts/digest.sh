#!/usr/bin/env bash
# Digest log files: levels, busiest minutes, most frequent messages. One background job per file.
set -euo pipefail

top=5 timeout=60
usage() { echo "usage: digest.sh [--top N] [--timeout SECONDS] FILE…" >&2; exit 2; }

while (($#)); do
    case $1 in
        --top) top=${2:?}; shift 2 ;;
        --timeout) timeout=${2:?}; shift 2 ;;
        --) shift; break ;;
        -*) usage ;;
        *) break ;;
    esac
done
(($#)) || usage

scratch=$(mktemp -d)
declare -A job_of=()
cleanup() {
    local code=$?
    for pid in "${!job_of[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    rm -rf -- "$scratch"
    exit "$code"
}
trap cleanup EXIT
trap 'echo "interrupted" >&2; exit 130' INT TERM

read_log() {
    case $1 in
        *.gz) gzip -dc -- "$1" ;;
        *) cat -- "$1" ;;
    esac
}

digest_one() { # FILE PREFIX
    read_log "$1" | tee \
        >(grep -oE '\b(DEBUG|INFO|WARN(ING)?|ERROR|FATAL|CRITICAL)\b' | sed 's/WARNING/WARN/' | sort | uniq -c >"$2.levels" || true) \
        >(grep -oE '[0-9]{2}:[0-9]{2}(:[0-9]{2})' | cut -c1-5 | sort | uniq -c >"$2.minutes" || true) \
        | sed -E 's/^[^A-Za-z]*//; s/[0-9a-f]{8,}/<id>/g; s/[0-9]+/<n>/g' | sort | uniq -c >"$2.messages"
    wait
}

merge() { # SUFFIX: add up "count text" lines of all jobs
    cat -- "$scratch"/*."$1" 2>/dev/null |
        awk '{ n = $1; sub(/^ *[0-9]+ /, ""); sum[$0] += n } END { for (t in sum) printf "%7d %s\n", sum[t], t }' |
        sort -k1,1nr -k2
}

set -m # each job in a process group of its own, so that all of it can be ended
number=0
for file in "$@"; do
    [[ -r $file ]] || { echo "can't read $file" >&2; exit 1; }
    number=$((number + 1))
    digest_one "$file" "$scratch/$number" &
    job_of[$!]=$file
done

failed=0
deadline=$((SECONDS + timeout))
for pid in "${!job_of[@]}"; do
    while kill -0 "$pid" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.05; done
    if kill -0 "$pid" 2>/dev/null; then
        echo "out of time: ${job_of[$pid]}" >&2
        kill -- "-$pid" 2>/dev/null || true
        failed=1
    elif ! wait "$pid"; then
        echo "failed: ${job_of[$pid]}" >&2
        failed=1
    fi
    unset "job_of[$pid]"
done
sleep 0.1 # process substitutions may still be writing their last line

lines=$(cat -- "$scratch"/*.messages | awk '{ n += $1 } END { print n + 0 }')
echo "lines: $lines in $# file(s)"
echo "levels:"; merge levels
echo "busiest minutes:"; merge minutes | head -n "$top"
echo "messages:"; merge messages | head -n "$top"
exit "$failed"
