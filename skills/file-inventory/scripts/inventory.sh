#!/bin/sh
# List files with checksum and size; find duplicates; compare two lists. POSIX only.
set -eu

usage() {
    echo "usage: inventory.sh [--duplicates] DIR | --compare OLD NEW" >&2
    exit 2
}

list() {
    [ -d "$1" ] || { echo "$1 is not a directory" >&2; exit 1; }
    (cd -- "$1" && find . -type f -exec cksum {} + | sed 's| \./| |' | LC_ALL=C sort -k3)
}

duplicates() {
    list "$1" | LC_ALL=C sort | awk '
        { key = $1 " " $2; path = $0; sub(/^[0-9]+ [0-9]+ /, "", path) }
        key == last { if (!open) print "same, " $2 " bytes: " first; print "  " path; open = 1; next }
        { last = key; first = path; open = 0 }'
}

compare() {
    awk '
        { path = $0; sub(/^[0-9]+ [0-9]+ /, "", path); sum = $1 " " $2 }
        NR == FNR { old[path] = sum; next }
        !(path in old) { print "new      " path; next }
        old[path] != sum { print "changed  " path }
        { delete old[path] }
        END { for (path in old) print "gone     " path }' "$1" "$2" | LC_ALL=C sort -b -k2
}

case "${1-}" in
    --duplicates) [ $# -eq 2 ] || usage; duplicates "$2" ;;
    --compare) [ $# -eq 3 ] || usage; compare "$2" "$3" ;;
    -* | "") usage ;;
    *) [ $# -eq 1 ] || usage; list "$1" ;;
esac
