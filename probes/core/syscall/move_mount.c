/* move_mount: a mount, put in its place in a namespace of its own. */
#define CAPABILITY "syscall_move_mount"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long put(int tree, const char *place, unsigned flags) {
    return syscall(SYS_move_mount, tree, "", AT_FDCWD, place, flags);
}

CHECK(refuses_a_closed_descriptor) {
    own_mounts();
    refuses(put(-1, "/", MOVE_MOUNT_F_EMPTY_PATH), EBADF, "move_mount of -1");
}

CHECK(puts_a_copy_in_its_place) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    int flags = OPEN_TREE_CLONE | AT_RECURSIVE;
    int tree = (int)works(syscall(SYS_open_tree, AT_FDCWD, "/usr", flags), "open_tree");
    works(put(tree, "place", MOVE_MOUNT_F_EMPTY_PATH), "move_mount");
    works(access("place/bin/env", F_OK), "access");
}

CHECK(refuses_what_is_no_mount) {
    own_directory();
    works(mkdir("place", 0700), "mkdir");
    works(own_mounts(), "a mount namespace");
    int directory = (int)works(open("place", O_PATH), "open");
    refuses(put(directory, ".", MOVE_MOUNT_F_EMPTY_PATH), EINVAL, "move_mount of a directory");
}

CHECK(refuses_unknown_flags) {
    own_mounts();
    refuses(put(-1, "/nonexistent", 1U << 30), EINVAL, "move_mount with 1 << 30");
}

CHECKS
