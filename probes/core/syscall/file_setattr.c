/* file_setattr: the flags of an inode, set by path. */
#define CAPABILITY "syscall_file_setattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

struct attributes {
    uint64_t flags;
    uint32_t extent, extents, project, copy_extent;
};

static long set(int directory, const char *path, uint64_t flags, size_t size) {
    struct attributes wanted = {.flags = flags};
    long result = syscall(SYS_file_setattr, directory, path, &wanted, size, 0);
    if (result == -1 && errno == EOPNOTSUPP)
        unavailable("this file system keeps no flags");
    return result;
}

CHECK(sets_what_ioctl_reports) {
    int fd = file_with("file", ""), flags = 0;
    works(set(AT_FDCWD, "file", FS_XFLAG_NODUMP, sizeof(struct attributes)), "file_setattr");
    works(ioctl(fd, FS_IOC_GETFLAGS, &flags), "ioctl FS_IOC_GETFLAGS");
    want(flags & FS_NODUMP_FL, "the flag is missing");
    works(set(AT_FDCWD, "file", 0, sizeof(struct attributes)), "file_setattr");
    works(ioctl(fd, FS_IOC_GETFLAGS, &flags), "ioctl FS_IOC_GETFLAGS");
    want(!(flags & FS_NODUMP_FL), "the flag is still there");
}

CHECK(refuses_a_size_that_is_too_small) {
    file_with("file", "");
    refuses(set(AT_FDCWD, "file", 0, 8), EINVAL, "file_setattr of 8 bytes");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(set(AT_FDCWD, "nothing", 0, sizeof(struct attributes)), ENOENT, "of nothing");
}

CHECK(refuses_a_closed_directory) {
    refuses(set(-1, "file", 0, sizeof(struct attributes)), EBADF, "file_setattr beneath -1");
}

CHECKS
