/* open_tree_attr: a copy of a mount, with attributes of its own. */
#define CAPABILITY "syscall_open_tree_attr"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

static struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

static long copy_of(const char *path, size_t size) {
    return syscall(SYS_open_tree_attr, AT_FDCWD, path, OPEN_TREE_CLONE, &read_only, size);
}

CHECK(refuses_what_is_not_there) {
    own_mounts();
    refuses(copy_of("/nonexistent", sizeof read_only), ENOENT, "open_tree_attr of nothing");
}

CHECK(copies_a_mount_and_makes_it_read_only) {
    own_directory();
    works(own_mounts(), "a mount namespace");
    int fd = (int)works(copy_of(".", sizeof read_only), "open_tree_attr");
    refuses(mkdirat(fd, "new", 0700), EROFS, "mkdirat in the copy");
    works(mkdir("new", 0700), "mkdir in the other");
}

CHECK(refuses_a_size_that_is_too_small) {
    own_mounts();
    refuses(copy_of("/", 8), EINVAL, "open_tree_attr of 8 bytes");
}

CHECKS
