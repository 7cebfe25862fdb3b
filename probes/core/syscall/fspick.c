/* fspick: a file system that is mounted, to be set up anew. */
#define CAPABILITY "syscall_fspick"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static void prepare(void) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    works(mount("none", "place", "tmpfs", 0, NULL), "mount");
    works(mkdir("place/inside", 0700), "mkdir");
}

CHECK(refuses_what_is_not_there) {
    own_mounts();
    refuses(syscall(SYS_fspick, AT_FDCWD, "/nonexistent", 0), ENOENT, "fspick of nothing");
}

CHECK(changes_what_is_mounted) {
    struct statfs facts;
    prepare();
    int fd = (int)works(syscall(SYS_fspick, AT_FDCWD, "place", FSPICK_CLOEXEC), "fspick");
    works(syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "size", "1m", 0), "fsconfig");
    works(syscall(SYS_fsconfig, fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0), "reconfigure");
    works(statfs("place", &facts), "statfs");
    want((long)facts.f_blocks * facts.f_bsize == 1 << 20, "another size");
    works(access("place/inside", F_OK), "access");
}

CHECK(refuses_what_is_no_mount) {
    prepare();
    refuses(syscall(SYS_fspick, AT_FDCWD, "place/inside", 0), EINVAL, "fspick of a directory");
}

CHECK(refuses_unknown_flags) {
    own_mounts();
    refuses(syscall(SYS_fspick, AT_FDCWD, "/nonexistent", 1 << 20), EINVAL, "with 1 << 20");
}

CHECKS
