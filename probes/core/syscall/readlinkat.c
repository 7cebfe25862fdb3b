/* readlinkat: where a link points, beneath an open directory. */
#define CAPABILITY "syscall_readlinkat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char target[16];

CHECK(reports_where_a_link_points) {
    own_directory();
    works(symlink("glass", "link"), "symlink");
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    want(works(syscall(SYS_readlinkat, here, "link", target, 16), "readlinkat") == 5, "not five");
    want(memcmp(target, "glass", 5) == 0, "%.16s", target);
}

CHECK(takes_an_open_link) {
    own_directory();
    works(symlink("glass", "link"), "symlink");
    int fd = (int)works(open("link", O_PATH | O_NOFOLLOW), "open");
    want(works(syscall(SYS_readlinkat, fd, "", target, 16), "readlinkat") == 5, "not five");
}

CHECK(reports_where_the_process_is) {
    works(chdir("/usr"), "chdir");
    works(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/cwd", target, 16), "readlinkat");
    want(memcmp(target, "/usr", 4) == 0, "%.16s", target);
}

CHECK(refuses_a_file) {
    file_with("file", "");
    refuses(syscall(SYS_readlinkat, AT_FDCWD, "file", target, 16), EINVAL, "of a file");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_readlinkat, -1, "link", target, 16), EBADF, "readlinkat beneath -1");
}

CHECKS
