/* file_getattr: the flags of an inode, by path. */
#define CAPABILITY "syscall_file_getattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#endif

struct attributes {
    uint64_t flags;
    uint32_t extent, extents, project, copy_extent;
};

static struct attributes found;

static long get(int directory, const char *path, size_t size) {
    long result = syscall(SYS_file_getattr, directory, path, &found, size, 0);
    if (result == -1 && errno == EOPNOTSUPP)
        unavailable("this file system keeps no flags");
    return result;
}

CHECK(reports_what_ioctl_set) {
    int fd = file_with("file", ""), flags = FS_NODUMP_FL;
    works(get(AT_FDCWD, "file", sizeof found), "file_getattr");
    want(!(found.flags & FS_XFLAG_NODUMP), "a new file has the flag");
    works(ioctl(fd, FS_IOC_SETFLAGS, &flags), "ioctl FS_IOC_SETFLAGS");
    works(get(AT_FDCWD, "file", sizeof found), "file_getattr");
    want(found.flags & FS_XFLAG_NODUMP, "the flag is missing");
}

CHECK(refuses_a_size_that_is_too_small) {
    file_with("file", "");
    refuses(get(AT_FDCWD, "file", 8), EINVAL, "file_getattr of 8 bytes");
}

CHECK(refuses_what_is_not_there) {
    own_directory();
    refuses(get(AT_FDCWD, "nothing", sizeof found), ENOENT, "file_getattr of nothing");
}

CHECK(refuses_a_closed_directory) {
    refuses(get(-1, "file", sizeof found), EBADF, "file_getattr beneath -1");
}

CHECKS
