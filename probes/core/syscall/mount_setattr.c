/* mount_setattr: the attributes of a mount, in a namespace of its own. */
#define CAPABILITY "syscall_mount_setattr"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

/* glibc's and the kernel's headers for mount don't go together. */
int mount(const char *, const char *, const char *, unsigned long, const void *);

static void prepare(void) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    works(mount("none", "place", "tmpfs", 0, NULL), "mount");
}

static long set(const char *path, unsigned flags, struct mount_attr *wanted, size_t size) {
    return syscall(SYS_mount_setattr, AT_FDCWD, path, flags, wanted, size);
}

CHECK(refuses_what_is_not_there) {
    own_mounts();
    refuses(set("/nonexistent", 0, &read_only, sizeof read_only), ENOENT, "of nothing");
}

CHECK(makes_a_mount_read_only_and_writable_again) {
    struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};
    prepare();
    works(set("place", 0, &read_only, sizeof read_only), "mount_setattr");
    refuses(mkdir("place/new", 0700), EROFS, "mkdir");
    works(set("place", 0, &writable, sizeof writable), "mount_setattr");
    works(mkdir("place/new", 0700), "mkdir");
}

CHECK(refuses_what_is_no_mount) {
    prepare();
    works(mkdir("place/inside", 0700), "mkdir");
    refuses(set("place/inside", 0, &read_only, sizeof read_only), EINVAL, "of a directory");
}

CHECK(refuses_unknown_attributes) {
    struct mount_attr unknown = {.attr_set = 1ULL << 40};
    prepare();
    refuses(set("place", 0, &unknown, sizeof unknown), EINVAL, "mount_setattr to 1 << 40");
}

CHECK(refuses_a_size_that_is_too_small) {
    own_mounts();
    refuses(set("/nonexistent", 0, &read_only, 8), EINVAL, "mount_setattr of 8 bytes");
}

CHECK(refuses_unknown_flags) {
    own_mounts();
    refuses(set("/nonexistent", 1 << 30, &read_only, sizeof read_only), EINVAL, "with 1 << 30");
}

CHECKS
