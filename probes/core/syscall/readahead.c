/* readahead: part of a file, asked for before it is read. */
#define CAPABILITY "syscall_readahead"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(leaves_the_position_and_the_bytes) {
    char bytes[8];
    int fd = file_with("file", "glass");
    works(syscall(SYS_readahead, fd, 0, 4096), "readahead");
    want(read(fd, bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(refuses_a_file_for_writing) {
    file_with("file", "glass");
    int fd = (int)works(open("file", O_WRONLY), "open");
    refuses(syscall(SYS_readahead, fd, 0, 4096), EBADF, "readahead of a file for writing");
}

CHECK(refuses_a_pipe) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_readahead, ends[0], 0, 4096), EINVAL, "readahead of a pipe");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_readahead, -1, 0, 4096), EBADF, "readahead of -1");
}

CHECKS
