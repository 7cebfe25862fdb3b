/* fsmount: a file system that was set up, as a mount without a place. */
#define CAPABILITY "syscall_fsmount"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static int context(void) {
    works(own_mounts(), "a mount namespace");
    return (int)works(syscall(SYS_fsopen, "tmpfs", 0), "fsopen");
}

CHECK(refuses_a_closed_descriptor) {
    own_mounts();
    refuses(syscall(SYS_fsmount, 999, 0, 0), EBADF, "fsmount of 999");
}

CHECK(gives_a_mount_that_holds_files) {
    struct statfs facts;
    int fd = context();
    works(syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "fsconfig");
    int tree = (int)works(syscall(SYS_fsmount, fd, FSMOUNT_CLOEXEC, 0), "fsmount");
    works(mkdirat(tree, "inside", 0700), "mkdirat");
    works(faccessat(tree, "inside", F_OK, 0), "faccessat");
    works(fstatfs(tree, &facts), "fstatfs");
    want(facts.f_type == 0x01021994, "type %lx", (long)facts.f_type);
}

CHECK(makes_it_read_only_if_asked) {
    int fd = context();
    works(syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "fsconfig");
    int tree = (int)works(syscall(SYS_fsmount, fd, 0, MOUNT_ATTR_RDONLY), "fsmount");
    refuses(mkdirat(tree, "inside", 0700), EROFS, "mkdirat");
}

CHECK(refuses_what_is_not_set_up) {
    refuses(syscall(SYS_fsmount, context(), 0, 0), EINVAL, "fsmount too early");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_fsmount, context(), 1 << 20, 0), EINVAL, "fsmount with 1 << 20");
}

CHECKS
