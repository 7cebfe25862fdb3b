/* mknodat: a new file, FIFO or socket, beneath an open directory. */
#define CAPABILITY "syscall_mknodat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static mode_t made(mode_t mode) {
    struct stat facts;
    own_directory();
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_mknodat, here, "new", mode, 0), "mknodat");
    works(fstatat(here, "new", &facts, 0), "fstatat");
    return facts.st_mode;
}

CHECK(makes_a_fifo) {
    want(made(S_IFIFO | 0600) == (S_IFIFO | 0600), "it is something else");
}

CHECK(makes_a_socket) {
    want(made(S_IFSOCK | 0600) == (S_IFSOCK | 0600), "it is something else");
}

CHECK(makes_a_file_if_no_type_is_given) {
    want(made(0600) == (S_IFREG | 0600), "it is something else");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("file", "");
    refuses(syscall(SYS_mknodat, AT_FDCWD, "file", S_IFIFO | 0600, 0), EEXIST, "over a file");
}

CHECK(refuses_an_unknown_type) {
    own_directory();
    refuses(syscall(SYS_mknodat, AT_FDCWD, "new", S_IFLNK | 0600, 0), EINVAL, "mknodat of a link");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_mknodat, -1, "new", S_IFIFO | 0600, 0), EBADF, "mknodat beneath -1");
}

CHECKS
