/* symlinkat: a link that points by name, beneath an open directory. */
#define CAPABILITY "syscall_symlinkat"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_link) {
    char target[8] = "";
    own_directory();
    int here = (int)works(open(".", O_PATH), "open .");
    works(chdir("/"), "chdir");
    works(syscall(SYS_symlinkat, "glass", here, "link"), "symlinkat");
    want(readlinkat(here, "link", target, 8) == 5 && !memcmp(target, "glass", 5), "elsewhere");
}

CHECK(refuses_a_name_that_is_taken) {
    file_with("file", "");
    refuses(syscall(SYS_symlinkat, "x", AT_FDCWD, "file"), EEXIST, "symlinkat over a file");
}

CHECK(refuses_a_closed_directory) {
    refuses(syscall(SYS_symlinkat, "x", -1, "link"), EBADF, "symlinkat beneath -1");
}

CHECKS
