# A file of the caller's that was never shared can be read, by the shell.
. "${0%/*}/../../_runner.sh"

CAPABILITY=filesystem_host_file_read

exercise() {
    witness FILE
    cat -- "$WITNESS" >/dev/null && echo "read a file outside the sandbox"
}

main "$@"
