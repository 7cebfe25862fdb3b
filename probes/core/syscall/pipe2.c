/* pipe2: a pipe, with flags. */
#define CAPABILITY "syscall_pipe2"
#include "_runner_c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(carries_bytes_from_end_to_end) {
    int ends[2];
    char bytes[8];
    works(syscall(SYS_pipe2, ends, 0), "pipe2");
    works(write(ends[1], "glass", 5), "write");
    want(read(ends[0], bytes, 8) == 5 && memcmp(bytes, "glass", 5) == 0, "other bytes");
}

CHECK(marks_for_closing_if_asked) {
    int ends[2];
    works(syscall(SYS_pipe2, ends, O_CLOEXEC), "pipe2");
    want(fcntl(ends[0], F_GETFD) == FD_CLOEXEC && fcntl(ends[1], F_GETFD) == FD_CLOEXEC, "not");
}

CHECK(never_waits_if_asked) {
    int ends[2];
    char byte;
    works(syscall(SYS_pipe2, ends, O_NONBLOCK), "pipe2");
    refuses(read(ends[0], &byte, 1), EAGAIN, "read of an empty pipe");
}

CHECK(keeps_messages_apart_if_asked) {
    int ends[2];
    char bytes[8];
    works(syscall(SYS_pipe2, ends, O_DIRECT), "pipe2 with O_DIRECT");
    works(write(ends[1], "gl", 2), "write");
    works(write(ends[1], "ass", 3), "write");
    want(read(ends[0], bytes, 8) == 2, "they came as one");
}

CHECK(refuses_unknown_flags) {
    int ends[2];
    refuses(syscall(SYS_pipe2, ends, O_APPEND), EINVAL, "pipe2 with O_APPEND");
}

CHECK(refuses_more_than_the_limit_of_descriptors) {
    int ends[2], next = (int)works(dup(0), "dup");
    struct rlimit limit = {(rlim_t)next + 1, (rlim_t)next + 1};
    close(next);
    works(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    refuses(syscall(SYS_pipe2, ends, 0), EMFILE, "pipe2 with room for one");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_pipe2, (void *)8, 0), EFAULT, "pipe2 to 8");
}

CHECKS
