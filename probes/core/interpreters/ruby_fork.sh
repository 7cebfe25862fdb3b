# Ruby copies itself, runs threads and reads from a program.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_ruby_fork

exercise() {
    command -v ruby >/dev/null || unavailable "there is no ruby"
    ruby -e '
        pid = fork { exit! 7 }
        Process.wait pid
        abort "fork" unless $?.exitstatus == 7
        abort "threads" unless (1..4).map { |n| Thread.new { n * n } }.map(&:value).sum == 30
        abort "popen" unless IO.popen(["echo", "hello"], &:read) == "hello\n"
    ' && echo "fork, threads and popen work"
}

main "$@"
