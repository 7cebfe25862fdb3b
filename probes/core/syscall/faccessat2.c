/* faccessat2: whether the caller may use a file, with flags. */
#define CAPABILITY "syscall_faccessat2"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(says_yes_to_a_file_of_ones_own) {
    file_with("file", "");
    works(syscall(SYS_faccessat2, AT_FDCWD, "file", R_OK | W_OK, 0), "faccessat2");
    works(syscall(SYS_faccessat2, AT_FDCWD, "file", R_OK | W_OK, AT_EACCESS), "as who acts");
}

CHECK(says_no_to_running_what_is_no_program) {
    file_with("file", "");
    refuses(syscall(SYS_faccessat2, AT_FDCWD, "file", X_OK, AT_EACCESS), EACCES, "for running");
}

CHECK(looks_at_a_link_itself_if_asked) {
    own_directory();
    works(symlink("nowhere", "link"), "symlink");
    refuses(syscall(SYS_faccessat2, AT_FDCWD, "link", F_OK, 0), ENOENT, "through the link");
    works(syscall(SYS_faccessat2, AT_FDCWD, "link", F_OK, AT_SYMLINK_NOFOLLOW), "the link itself");
}

CHECK(takes_an_open_file) {
    int fd = file_with("file", "");
    works(syscall(SYS_faccessat2, fd, "", R_OK, AT_EMPTY_PATH), "faccessat2 of a descriptor");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_faccessat2, AT_FDCWD, "/", F_OK, 1 << 30), EINVAL, "with 1 << 30");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_faccessat2, -1, "file", F_OK, 0), EBADF, "faccessat2 beneath -1");
}

CHECKS
