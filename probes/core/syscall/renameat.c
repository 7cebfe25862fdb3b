/* renameat: another name, relative to open directories. */
#define CAPABILITY "syscall_renameat"
#include "_runner_c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(moves_a_file_between_directories) {
    own_directory();
    works(mkdir("from", 0700), "mkdir");
    works(mkdir("to", 0700), "mkdir");
    file_with("from/file", "glass");
    int from = (int)works(open("from", O_RDONLY), "open");
    int to = (int)works(open("to", O_RDONLY), "open");
    works(syscall(SYS_renameat, from, "file", to, "other"), "renameat");
    refuses(access("from/file", F_OK), ENOENT, "the old name");
    works(access("to/other", F_OK), "access to/other");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(syscall(SYS_renameat, AT_FDCWD, "no", AT_FDCWD, "two"), ENOENT, "renameat of nothing");
}

CHECK(refuses_a_closed_directory) {
    file_with("file", "");
    refuses(syscall(SYS_renameat, AT_FDCWD, "file", -1, "two"), EBADF, "renameat to -1");
}

CHECK(refuses_to_look_beneath_a_file) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_renameat, AT_FDCWD, "file", fd, "two"), ENOTDIR, "renameat to a file");
}

CHECKS
