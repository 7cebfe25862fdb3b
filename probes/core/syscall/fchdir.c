/* fchdir: an open directory as working directory. */
#define CAPABILITY "syscall_fchdir"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(changes_where_names_begin) {
    char path[64];
    int fd = (int)works(open("/usr", O_RDONLY | O_DIRECTORY), "open /usr");
    works(syscall(SYS_fchdir, fd), "fchdir");
    want(strcmp(getcwd(path, sizeof path), "/usr") == 0, "it is %s", path);
}

CHECK(takes_a_place_without_a_right_to_read) {
    char path[64];
    works(syscall(SYS_fchdir, works(open("/usr", O_PATH), "open /usr")), "fchdir");
    want(strcmp(getcwd(path, sizeof path), "/usr") == 0, "it is %s", path);
}

CHECK(refuses_a_file) {
    refuses(syscall(SYS_fchdir, file_with("file", "")), ENOTDIR, "fchdir to a file");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fchdir, -1), EBADF, "fchdir to -1");
}

CHECKS
