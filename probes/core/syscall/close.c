/* close: the end of a descriptor. */
#define CAPABILITY "syscall_close"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(ends_a_descriptor) {
    int fd = file_with("file", "");
    works(syscall(SYS_close, fd), "close");
    refuses(fcntl(fd, F_GETFD), EBADF, "what was closed");
}

CHECK(leaves_copies_open) {
    char byte;
    int fd = file_with("file", "g"), copy = (int)works(dup(fd), "dup");
    works(syscall(SYS_close, fd), "close");
    want(read(copy, &byte, 1) == 1 && byte == 'g', "the copy is closed, too");
}

CHECK(reports_the_other_end_of_a_pipe) {
    int ends[2];
    char byte;
    works(pipe(ends), "pipe");
    works(syscall(SYS_close, ends[1]), "close");
    want(read(ends[0], &byte, 1) == 0, "the pipe has no end");
}

CHECK(frees_the_number) {
    int fd = (int)works(dup(0), "dup");
    works(syscall(SYS_close, fd), "close");
    want(dup(0) == fd, "it is not used again");
}

CHECK(refuses_what_is_closed) {
    int fd = (int)works(dup(0), "dup");
    works(syscall(SYS_close, fd), "close");
    refuses(syscall(SYS_close, fd), EBADF, "close again");
    refuses(syscall(SYS_close, -1), EBADF, "close of -1");
}

CHECKS
