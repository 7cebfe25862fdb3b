# A file can be made among the system's programs, in /usr, by the shell.
. "${0%/*}/../../_runner.sh"

CAPABILITY=filesystem_usr_write

exercise() {
    : >"/usr/.wardian-probe-$$" || exit
    rm "/usr/.wardian-probe-$$"
    echo "made and removed a file in /usr"
}

main "$@"
