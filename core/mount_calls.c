/* The mount calls of Linux 5.2 and later, with descriptors in place of paths. */
#define _GNU_SOURCE
#include "fortify.h"
#include "mount_calls.h"
#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

int mount_setattr_at(int fd, unsigned flags, const struct attributes *attributes) {
    return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, attributes,
                        sizeof *attributes);
}

int mount_new(const char *type, const char *const options[][2], unsigned attributes,
                      const char *wall) {
    int fs = (int)syscall(SYS_fsopen, type, 1 /* FSOPEN_CLOEXEC */);
    if (fs < 0)
        die(errno, wall, "opening a new %s", type);
    for (; options && (*options)[0]; options++)
        if (syscall(SYS_fsconfig, fs, 1 /* SET_STRING */, (*options)[0], (*options)[1], 0) < 0)
            die(errno, wall, "setting %s=%s of %s", (*options)[0], (*options)[1], type);
    if (syscall(SYS_fsconfig, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) < 0)
        die(errno, wall, "creating a new %s", type);
    int mount = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, attributes);
    if (mount < 0)
        die(errno, wall, "mounting a new %s", type);
    close(fs);
    return mount;
}

void mount_attach(int mount, int dir, const char *name, const char *wall, const char *path) {
    if (syscall(SYS_move_mount, mount, "", dir, name, 4 /* MOVE_MOUNT_F_EMPTY_PATH */) < 0)
        die(errno, wall, "mounting at %s in the guest", path);
}

int mount_detach(int dir, const char *name, const char *wall) {
    int tree = (int)syscall(SYS_open_tree, dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0)
        die(errno, wall, "binding %s of the private files", name);
    return tree;
}

void make_read_only(int mount, unsigned flags, const char *wall, const char *what) {
    struct attributes read_only = {.attr_set = MOUNT_ATTR_RDONLY};
    enum { TRIES = 200 }; /* busy while another process of ours still writes a file there */
    for (int i = 0; mount_setattr_at(mount, flags, &read_only) < 0; i++) {
        if (errno != EBUSY || i == TRIES)
            die(errno, wall, "making %s read-only", what);
        poll(NULL, 0, 1);
    }
}
