/* fdatasync: the data of a file, written out. */
#define CAPABILITY "syscall_fdatasync"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(keeps_what_was_written) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_fdatasync, fd), "fdatasync");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_fdatasync, ends[1]), EINVAL, "fdatasync of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fdatasync, -1), EBADF, "fdatasync of -1");
}

CHECKS
