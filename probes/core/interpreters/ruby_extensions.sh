# Ruby runs, and its extensions in C load.
. "${0%/*}/../../_runner.sh"

CAPABILITY=interpreters_ruby_extensions

exercise() {
    command -v ruby >/dev/null || unavailable "there is no ruby"
    ruby -e '
        require "json"; require "digest"; require "zlib"; require "stringio"; require "socket"
        abort "json" unless JSON.parse("[1]") == [1]
        abort "digest" unless Digest::SHA256.hexdigest("").start_with?("e3b0c442")
        abort "zlib" unless Zlib.inflate(Zlib.deflate("x")) == "x"
    ' && echo "json, digest, zlib, stringio and socket work"
}

main "$@"
