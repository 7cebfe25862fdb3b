# What a shell specimen needs: command line, observation, exit code. POSIX sh, and no wardian.
#
# A specimen sets CAPABILITY, defines `exercise`, sources this and ends with `main "$@"`. Success
# means allowed, failure means blocked; the last line that it printed is the detail, and the errno's
# name is found from the system's words in it. `blocked ERRNO TEXT` and `unavailable TEXT` say so
# outright. `exercise` runs in a subshell: it may `exit` and `cd`.

LC_ALL=C.UTF-8 # errors in the words that _errno_of knows
export LC_ALL
_BLOCKED=121
_UNAVAILABLE=122

blocked() { # ERRNO TEXT; ERRNO may be ""
    printf '\n%s\n' "$1 $2"
    exit $_BLOCKED
}

unavailable() { # TEXT
    printf '\n%s\n' "$1"
    exit $_UNAVAILABLE
}

scratch() { # NAME: sets SCRATCH to a path in the temporary directory that no other specimen uses
    SCRATCH=${TMPDIR:-/tmp}/wardian-${1:-probe}-$$
}

witness() { # NAME: sets WITNESS to what the harness placed on the host, outside the sandbox
    eval "WITNESS=\${PROBE_HOST_$1:-}"
    [ -n "$WITNESS" ] || unavailable "PROBE_HOST_$1 is not set: \`wardian probe run\` sets it"
}

main() {
    _id=${PROBE_ID:-}
    _output=${_id:+artifacts/$_id.json}
    while [ $# -gt 0 ]; do
        case $1 in
        --output=*) _output=${1#--output=} ;;
        --output) [ $# -gt 1 ] || _usage && shift && _output=$1 ;;
        *) _usage ;;
        esac
        shift
    done
    case $_output in
    - | '') _output= ;;
    /*) ;;
    *) _output=$PWD/$_output ;;
    esac
    [ -n "$_id" ] || _id_of_path
    [ "${PROBE_EXPECT:-}" = blocked ] || PROBE_EXPECT=allowed
    _observe
    _classify
    _write || exit 1
    case $_status in supported | blocked_expected) exit 0 ;; esac
    exit 1
}

_usage() {
    echo "usage: $0 [--output PATH]" >&2
    exit 2
}

_id_of_path() {
    _path=$(cd "${0%/*}" && pwd)/${0##*/}
    case $_path in
    */core/*) _path=core/${_path##*/core/} ;;
    */fuzz/*) _path=fuzz/${_path##*/fuzz/} ;;
    *) _path=${_path##*/} ;;
    esac
    _path=${_path%.*}
    while :; do
        case $_path in
        */*) _id=$_id${_path%%/*}__ _path=${_path#*/} ;;
        *) _id=$_id$_path && return ;;
        esac
    done
}

_observe() {
    _text=$( (exercise) 2>&1)
    _code=$?
    _errno=
    _detail=$(printf '%s\n' "$_text" | tail -n 1)
    case $_code in
    0) _observed=allowed ;;
    "$_UNAVAILABLE") _observed=unavailable ;;
    "$_BLOCKED") _observed=blocked _errno=${_detail%% *} _detail=${_detail#* } ;;
    *) _observed=blocked && _errno_of "$_detail" ;;
    esac
    _detail=$(printf '%s' "$_detail" | LC_ALL=C tr -cd '\040-\176' | cut -c 1-500 | sed 's/[\\"]/\\&/g')
}

_errno_of() { # TEXT
    case $1 in
    *'peration not permitted'*) _errno=EPERM ;;
    *'ermission denied'*) _errno=EACCES ;;
    *'o such file'* | *': not found'* | *'irectory nonexistent'*) _errno=ENOENT ;;
    *'ead-only file system'*) _errno=EROFS ;;
    *'unction not implemented'*) _errno=ENOSYS ;;
    *'onnection refused'*) _errno=ECONNREFUSED ;;
    *'etwork is unreachable'*) _errno=ENETUNREACH ;;
    *'o space left on device'*) _errno=ENOSPC ;;
    *'annot allocate memory'*) _errno=ENOMEM ;;
    *'esource temporarily unavailable'*) _errno=EAGAIN ;;
    *'nvalid argument'*) _errno=EINVAL ;;
    *'peration not supported'*) _errno=EOPNOTSUPP ;;
    *'o such process'*) _errno=ESRCH ;;
    esac
}

_classify() {
    case $_observed-$PROBE_EXPECT in
    allowed-allowed) _status=supported ;;
    allowed-blocked) _status=allowed_unexpected ;;
    blocked-blocked) _status=blocked_expected ;;
    blocked-allowed) _status=blocked_unexpected ;;
    *) _status=$_observed ;;
    esac
}

_print() {
    printf '{"schema": "wardian.observation/1", "id": "%s", "capability": "%s", "language": "sh", ' \
        "$_id" "$CAPABILITY"
    [ -n "$_errno" ] && _name="\"$_errno\"" || _name=null
    printf '"observed": "%s", "errno": %s, "detail": "%s", "expected": "%s", "status": "%s"}\n' \
        "$_observed" "$_name" "$_detail" "$PROBE_EXPECT" "$_status"
}

_write() {
    [ -n "$_output" ] || { _print && return; }
    [ -d "${_output%/*}" ] || mkdir -p "${_output%/*}"
    _print >"$_output.$$.tmp" && mv -f "$_output.$$.tmp" "$_output"
}
