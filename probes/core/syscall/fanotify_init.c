/* fanotify_init: a watcher of whole file systems; nothing is watched. */
#define CAPABILITY "syscall_fanotify_init"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/fanotify.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(makes_a_watcher) {
    char event[256];
    unsigned flags = FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_NONBLOCK | FAN_CLOEXEC;
    int fd = (int)works(syscall(SYS_fanotify_init, flags, O_RDONLY), "fanotify_init");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC, "not closed on exec");
    refuses(read(fd, event, sizeof event), EAGAIN, "read of nothing");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_fanotify_init, FAN_REPORT_FID | 0x80000000u, 0), EINVAL, "unknown flags");
}

CHECK(refuses_flags_that_contradict_each_other) {
    unsigned flags = FAN_REPORT_FID | FAN_REPORT_NAME;
    refuses(syscall(SYS_fanotify_init, flags, O_RDONLY), EINVAL, "names without directories");
}

CHECKS
