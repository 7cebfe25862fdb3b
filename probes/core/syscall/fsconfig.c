/* fsconfig: how a file system is to be set up. */
#define CAPABILITY "syscall_fsconfig"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static int context(void) {
    works(own_mounts(), "a mount namespace");
    return (int)works(syscall(SYS_fsopen, "tmpfs", 0), "fsopen");
}

CHECK(refuses_a_closed_descriptor) {
    refuses(syscall(SYS_fsconfig, 999, FSCONFIG_SET_FLAG, "ro", NULL, 0), EBADF, "of 999");
}

CHECK(refuses_what_is_no_file_system) {
    int fd = file_with("file", "");
    refuses(syscall(SYS_fsconfig, fd, FSCONFIG_SET_FLAG, "ro", NULL, 0), EINVAL, "of a file");
}

CHECK(takes_what_the_file_system_knows) {
    int fd = context();
    works(syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "size", "1m", 0), "size");
    works(syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "FSCONFIG_CMD_CREATE");
}

CHECK(refuses_what_the_file_system_does_not_know) {
    int fd = context();
    refuses(syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "panes", "12", 0), EINVAL, "panes");
    char message[128];
    want(works(read(fd, message, sizeof message), "read") > 0, "no error message");
}

CHECK(refuses_an_unknown_command) {
    refuses(syscall(SYS_fsconfig, context(), 99, NULL, NULL, 0), EOPNOTSUPP, "command 99");
}

CHECKS
