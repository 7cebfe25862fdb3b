/* fsync: data and facts of a file, written out. */
#define CAPABILITY "syscall_fsync"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(keeps_what_was_written) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_fsync, fd), "fsync");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(takes_a_directory) {
    own_directory();
    works(syscall(SYS_fsync, works(open(".", O_RDONLY), "open .")), "fsync of a directory");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_fsync, ends[1]), EINVAL, "fsync of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fsync, -1), EBADF, "fsync of -1");
}

CHECKS
