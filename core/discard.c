/* Removes a directory that the caller would have removed, had it not been killed. The guest filled it, and a
 * guest of another run may still be in it: no link is followed, every change of mode is made to the inode
 * that was examined, and no depth can exhaust us. */
#define _GNU_SOURCE
#include "fortify.h"
#include "discard.h"
#include "directory.h"
#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { NO_XDEV = 0x01, NO_SYMLINKS = 0x04 }; /* RESOLVE_*, openat2(2) */

struct removal {
    int root;
    int dir;          /* the directory being emptied: the root, or one below it */
    dev_t device;     /* another file system mounted in it is not the guest's */
    unsigned serial;  /* names for what is moved up */
    bool progress;
};

enum { MAX_DISCARDED = 2 };
static struct directory {
    char path[PATH_MAX];
    dev_t device;
    ino_t inode;
} remembered[MAX_DISCARDED];
static size_t remembered_count;

static int open_name(int at, const char *name) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, NO_XDEV | NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* before Linux 5.6, or an older filter */
        fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd;
}

/* An open descriptor can't turn into another file; a name can, between check and use. */
static void open_up(int opened) {
    char link[48];
    if (syscall(SYS_fchmodat2, opened, "", 0700, AT_EMPTY_PATH) == 0)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", opened); /* before Linux 6.6 */
    fchmodat(AT_FDCWD, link, 0700, 0);
}

/* Opens a directory of this file system so that we can list and change it; -1 for anything else. */
static int listable(int opened, dev_t device) {
    struct stat st;
    int fd = -1;
    if (opened < 0)
        return -1;
    if (fstat(opened, &st) == 0 && S_ISDIR(st.st_mode) && st.st_dev == device) {
        if ((st.st_mode & 0700) != 0700)
            open_up(opened);
        fd = openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    close(opened);
    return fd;
}

/* Moves the entries of a directory below the root up to the root, so that the depth shrinks to zero. */
static void move_up(const char *name, void *context) {
    struct removal *r = context;
    char fresh[32];
    if (unlinkat(r->dir, name, 0) == 0 || unlinkat(r->dir, name, AT_REMOVEDIR) == 0)
        return;
    int moved = listable(open_name(r->dir, name), r->device); /* moving it rewrites its ".." */
    if (moved < 0)
        return;
    close(moved);
    snprintf(fresh, sizeof fresh, ".gone-%u", r->serial++);
    syscall(SYS_renameat2, r->dir, name, r->root, fresh, 1 /* RENAME_NOREPLACE */);
}

static void remove_entry(const char *name, void *context) {
    struct removal *r = context;
    if (unlinkat(r->root, name, 0) == 0 || unlinkat(r->root, name, AT_REMOVEDIR) == 0) {
        r->progress = true;
        return;
    }
    r->dir = listable(open_name(r->root, name), r->device);
    if (r->dir < 0)
        return;
    each_entry(r->dir, move_up, r);
    close(r->dir);
    if (unlinkat(r->root, name, AT_REMOVEDIR) == 0)
        r->progress = true;
}

void discard_remember(const char *directory) {
    struct stat st;
    if (remembered_count == MAX_DISCARDED || fstatat(AT_FDCWD, directory, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(st.st_mode) || strlen(directory) >= PATH_MAX)
        return;
    struct directory *own = &remembered[remembered_count++];
    snprintf(own->path, sizeof own->path, "%s", directory);
    own->device = st.st_dev;
    own->inode = st.st_ino;
}

static void discard(const struct directory *own) {
    struct stat st;
    int at = openat(AT_FDCWD, own->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0)
        return;
    if (fstat(at, &st) < 0 || st.st_ino != own->inode) {
        close(at); /* something else stands there now */
        return;
    }
    struct removal r = {.serial = (unsigned)now_us(), .root = listable(at, own->device), .device = own->device};
    if (r.root < 0)
        return;
    /* Next: entries that were moved up, or skipped because others went away; a name that was replaced
     * meanwhile gets a second try. */
    for (int idle = 0; idle < 3; idle = r.progress ? 0 : idle + 1) {
        r.progress = false;
        each_entry(r.root, remove_entry, &r);
    }
    close(r.root);
    rmdir(own->path);
}

void discard_tree(void) {
    for (size_t i = 0; i < remembered_count; i++)
        discard(&remembered[i]);
}
