/* dup2: a copy of a descriptor, with a number of one's own. */
#define CAPABILITY "syscall_dup2"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_dup2

CHECK(gives_the_number_asked_for) {
    int fd = file_with("file", "glass");
    want(works(syscall(SYS_dup2, fd, 100), "dup2") == 100, "another number");
    works(lseek(100, 3, SEEK_SET), "lseek");
    want(lseek(fd, 0, SEEK_CUR) == 3, "the position is another");
}

CHECK(closes_what_had_the_number) {
    int ends[2];
    char byte;
    works(pipe(ends), "pipe");
    works(syscall(SYS_dup2, 0, ends[1]), "dup2");
    want(read(ends[0], &byte, 1) == 0, "the pipe is still open");
}

CHECK(leaves_a_descriptor_that_is_its_own_copy) {
    int fd = (int)works(open("/", O_RDONLY | O_CLOEXEC), "open");
    want(works(syscall(SYS_dup2, fd, fd), "dup2") == fd, "another number");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "the mark is gone");
}

CHECK(refuses_a_number_beyond_the_limit) {
    struct rlimit limit;
    works(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    refuses(syscall(SYS_dup2, 0, limit.rlim_cur), EBADF, "dup2 to the limit");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_dup2, -1, 100), EBADF, "dup2 of -1");
}

#else

CHECK(is_not_a_call_of_this_architecture) {
    unavailable("this architecture has no dup2");
}

#endif

CHECKS
