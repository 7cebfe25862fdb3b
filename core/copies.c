/* Shares with `copy`: the guest may change them without changing the host's files. An overlay whose lower
 * layer is the share, mounted read-only, and whose upper layer is the run's own. No file in the share can
 * lead elsewhere: with `userxattr` the kernel neither follows redirects nor takes data from another file
 * (overlayfs.rst), and there is no second lower layer that a whiteout could uncover. */
#define _GNU_SOURCE
#include "fortify.h"
#include "copies.h"
#include "mount_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FSCONFIG_FLAG = 0, FSCONFIG_STRING = 1, FSCONFIG_CREATE = 6 };

static int copies;

/* Both layers of one copy lie below it. Masked: the guest's /proc is mounted over it. */
static int open_layers(const struct builder *b) {
    char name[16];
    snprintf(name, sizeof name, "copy%d", copies++);
    if (b->hidden < 0 || mkdirat(b->hidden, name, 0700) < 0)
        return -1;
    return openat(b->hidden, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
}

static int open_layer(int layers, const char *name, mode_t mode) {
    if (layers < 0 || mkdirat(layers, name, 0700) < 0 || fchmodat(layers, name, mode, 0) < 0)
        return -1;
    return openat(layers, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
}

/* By descriptor: the working directory is the guest's own /proc. */
static bool set_layer(int fs, const char *key, int fd) {
    char path[24];
    snprintf(path, sizeof path, "self/fd/%d", fd);
    return fd >= 0 && syscall(SYS_fsconfig, fs, FSCONFIG_STRING, key, path, 0) == 0;
}

static int mount_overlay(int lower, int upper, int work) {
    int fs = (int)syscall(SYS_fsopen, "overlay", 1 /* FSOPEN_CLOEXEC */), mount = -1;
    if (fs < 0)
        return -1;
    if (syscall(SYS_fsconfig, fs, FSCONFIG_FLAG, "userxattr", NULL, 0) == 0 && set_layer(fs, "lowerdir", lower) &&
        set_layer(fs, "upperdir", upper) && set_layer(fs, "workdir", work) &&
        syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    close(fs);
    return mount;
}

bool copies_cover(const struct builder *b, const struct step *step, int dir, const char *name) {
    struct stat st;
    if (fstat(step->fd, &st) < 0 || !S_ISDIR(st.st_mode))
        return false;
    int layers = open_layers(b);
    int upper = open_layer(layers, "upper", (st.st_mode & 0777) | 0700), work = open_layer(layers, "work", 0700);
    int mount = upper < 0 || work < 0 ? -1 : mount_overlay(step->fd, upper, work);
    bool covered = mount >= 0 && syscall(SYS_move_mount, mount, "", dir, name, 4 /* MOVE_MOUNT_F_EMPTY_PATH */) == 0;
    const int done[] = {layers, upper, work, mount};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        if (done[i] >= 0)
            close(done[i]);
    return covered;
}
