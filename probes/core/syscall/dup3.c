/* dup3: a copy of a descriptor, with a number and flags. */
#define CAPABILITY "syscall_dup3"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(gives_the_number_asked_for) {
    int fd = file_with("file", "glass");
    want(works(syscall(SYS_dup3, fd, 100, 0), "dup3") == 100, "another number");
    works(lseek(100, 3, SEEK_SET), "lseek");
    want(lseek(fd, 0, SEEK_CUR) == 3, "the position is another");
    want(fcntl(100, F_GETFD) == 0, "marked for closing");
}

CHECK(marks_for_closing_if_asked) {
    works(syscall(SYS_dup3, 0, 100, O_CLOEXEC), "dup3");
    want(fcntl(100, F_GETFD) == FD_CLOEXEC, "not marked");
}

CHECK(refuses_a_descriptor_as_its_own_copy) {
    refuses(syscall(SYS_dup3, 0, 0, 0), EINVAL, "dup3 of 0 to 0");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_dup3, 0, 100, O_APPEND), EINVAL, "dup3 with O_APPEND");
}

CHECK(refuses_a_number_beyond_the_limit) {
    struct rlimit limit;
    works(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    refuses(syscall(SYS_dup3, 0, limit.rlim_cur, 0), EBADF, "dup3 to the limit");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_dup3, -1, 100, 0), EBADF, "dup3 of -1");
}

CHECKS
