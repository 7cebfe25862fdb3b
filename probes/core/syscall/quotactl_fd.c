/* quotactl_fd: disk quotas of an open file's disk, asked for and never changed. */
#define CAPABILITY "syscall_quotactl_fd"
#include "_runner_c.h"

#include <sys/quota.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK(what, kind) ((unsigned)(what) << SUBCMDSHIFT | (kind))

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_quotactl_fd, -1, ASK(Q_SYNC, USRQUOTA), 0, NULL), EBADF, "of -1");
}

CHECK(refuses_an_unknown_kind) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_quotactl_fd, fd, ASK(Q_SYNC, 99), 0, NULL), EINVAL, "of kind 99");
}

CHECK(asks_the_file_system) {
    unsigned format;
    int fd = file_with("file", "");
    long result = syscall(SYS_quotactl_fd, fd, ASK(Q_GETFMT, USRQUOTA), 0, &format);
    if (result == -1 && errno == ENOSYS)
        unavailable("this file system has no quotas");
    if (result == -1 && errno != ESRCH) /* none are kept */
        works(result, "quotactl_fd Q_GETFMT");
}

CHECKS
