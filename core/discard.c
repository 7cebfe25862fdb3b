/* Removing a directory that only the caller would have removed, when the caller was killed. The
 * guest filled it, so nothing in it is followed, and no depth of it can exhaust us. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct removal {
    int root;
    int dir;          /* the directory being emptied: the root, or one below it */
    unsigned serial;  /* names for what is moved up */
    bool progress;
};

/* What lies in a directory below the root moves up to the root, so depth shrinks to nothing. */
static void move_up(const char *name, void *context) {
    struct removal *r = context;
    char fresh[32];
    if (unlinkat(r->dir, name, 0) == 0 || unlinkat(r->dir, name, AT_REMOVEDIR) == 0)
        return;
    snprintf(fresh, sizeof fresh, ".gone-%u", r->serial++);
    fchmodat(r->dir, name, 0700, 0);
    syscall(SYS_renameat2, r->dir, name, r->root, fresh, 1 /* RENAME_NOREPLACE */);
}

static void remove_entry(const char *name, void *context) {
    struct removal *r = context;
    if (unlinkat(r->root, name, 0) == 0 || unlinkat(r->root, name, AT_REMOVEDIR) == 0) {
        r->progress = true;
        return;
    }
    fchmodat(r->root, name, 0700, 0);
    r->dir = openat(r->root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (r->dir < 0)
        return;
    each_entry(r->dir, move_up, r);
    close(r->dir);
    if (unlinkat(r->root, name, AT_REMOVEDIR) == 0)
        r->progress = true;
}

void discard_tree(const char *path) {
    fchmodat(AT_FDCWD, path, 0700, 0);
    struct removal r = {.serial = (unsigned)now_us(), .root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (r.root < 0)
        return;
    do {
        r.progress = false;
        each_entry(r.root, remove_entry, &r);
    } while (r.progress); /* what came up, or was skipped because others went away, is next */
    close(r.root);
    rmdir(path);
}
