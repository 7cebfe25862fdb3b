/* setns: entering a namespace. */
#define CAPABILITY "syscall_setns"
#include "_runner_c.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_setns, -1, 0), EBADF, "setns -1");
}

CHECK(refuses_what_is_no_namespace) {
    int fd = (int)works(open("/dev/null", O_RDONLY), "open");
    refuses(syscall(SYS_setns, fd, 0), EINVAL, "a device");
}

CHECK(refuses_a_namespace_of_another_kind) {
    int fd = (int)works(open("/proc/self/ns/uts", O_RDONLY), "open");
    refuses(syscall(SYS_setns, fd, CLONE_NEWNET), EINVAL, "a host name as a network");
}

CHECK(refuses_the_own_user_namespace) {
    int fd = (int)works(open("/proc/self/ns/user", O_RDONLY), "open");
    refuses(syscall(SYS_setns, fd, CLONE_NEWUSER), EINVAL, "the own user namespace");
}

/* In namespaces of its own, so that nothing of the host's changes. */
CHECK(enters_a_namespace) {
    char name[64];
    if (syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWUTS) < 0)
        unavailable("there is no namespace to try it in");
    int fd = (int)works(open("/proc/self/ns/uts", O_RDONLY), "open");
    works(sethostname("first", 5), "sethostname");
    works(syscall(SYS_unshare, CLONE_NEWUTS), "unshare");
    works(sethostname("second", 6), "sethostname");
    works(syscall(SYS_setns, fd, CLONE_NEWUTS), "setns");
    works(gethostname(name, sizeof name), "gethostname");
    want(strcmp(name, "first") == 0, "the name is %s", name);
}

CHECKS
