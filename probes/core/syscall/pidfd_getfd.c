/* pidfd_getfd: a descriptor taken out of another process. */
#define CAPABILITY "syscall_pidfd_getfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_process(pid_t pid) {
    return (int)works(syscall(SYS_pidfd_open, pid, 0), "pidfd_open");
}

static long take(int process, int fd, unsigned flags) {
    return syscall(SYS_pidfd_getfd, process, fd, flags);
}

CHECK(gives_a_copy_of_a_childs_descriptor) {
    int ends[2];
    char byte = 0;
    works(pipe(ends), "pipe");
    int process = open_process(child_that(waits));
    close(ends[1]);
    int fd = (int)works(take(process, ends[1], 0), "pidfd_getfd");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "exec does not close it");
    works(write(fd, "x", 1), "write");
    want(read(ends[0], &byte, 1) == 1 && byte == 'x', "another pipe");
}

CHECK(refuses_what_is_not_open_there) {
    refuses(take(open_process(getpid()), 1 << 20, 0), EBADF, "a closed descriptor");
}

CHECK(refuses_what_is_no_process_descriptor) {
    refuses(take(-1, 0, 0), EBADF, "descriptor -1");
    refuses(take((int)works(open("/dev/null", O_RDONLY), "open"), 0, 0), EBADF, "a device");
}

CHECK(refuses_flags) {
    refuses(take(open_process(getpid()), 0, 1), EINVAL, "flag 1");
}

CHECKS
