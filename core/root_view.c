/* Opens paths in the guest's root from outside. A lookup in the FUSE root (fuse_root.c) would ask the
 * supervisor itself; so there each entry of the root has a descriptor of its own. */
#define _GNU_SOURCE
#include "fortify.h"
#include "root_view.h"
#include "fuse_root.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

enum { NO_MAGIC_LINKS = 0x02, BELOW = 0x08, INSIDE = 0x10 }; /* RESOLVE_*, openat2(2) */

static int root = -1;
static struct top tops[MAX_TOPS]; /* no entry: the root itself is used */
static size_t top_count;

void root_view_attach(int fd) { root = fd; }

void root_view_top(const struct top *top) {
    if (top_count < MAX_TOPS)
        tops[top_count++] = *top;
}

bool root_view_known(void) { return root >= 0; }

static const struct top *top_named(const char *name, size_t len) {
    for (size_t i = 0; i < top_count; i++)
        if (strlen(tops[i].name) == len && memcmp(tops[i].name, name, len) == 0)
            return &tops[i];
    return NULL;
}

const char *root_view_link(const char *name, size_t len) {
    const struct top *top = top_named(name, len);
    return top && top->link[0] ? top->link : NULL;
}

int root_view_enter(const char *name, size_t len) {
    if (!top_count)
        return openat(root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const struct top *top = top_named(name, len);
    if (top && top->fd >= 0)
        return fcntl(top->fd, F_DUPFD_CLOEXEC, 3);
    errno = ENOENT;
    return -1;
}

struct how {
    uint64_t flags, mode, resolve;
};

/* /lib/x is usr/lib/x: what follows "usr/" goes to `led`. NULL if the target is unknown. */
static const char *through_link(const char *link, const char *rest, char led[PATH_MAX]) {
    size_t prefix = strcspn(link, "/"), more = strlen(link) - prefix, left = strlen(rest);
    if (link[0] == '/' || more + left + 2 > PATH_MAX)
        return NULL;
    memcpy(led, link + prefix + (more > 0), more - (more > 0));
    more -= more > 0;
    led[more] = '/';
    memcpy(led + more + 1, rest, left + 1);
    return more ? led : led + 1;
}

static int open_below_top(const char *path, const struct how *how) {
    path += strspn(path, "/");
    size_t len = strcspn(path, "/");
    const struct top *top = top_named(path, len);
    const char *rest = path + len + strspn(path + len, "/");
    char led[PATH_MAX];
    if (top && top->link[0]) {
        rest = through_link(top->link, rest, led);
        top = top_named(top->link, strcspn(top->link, "/"));
    }
    if (!rest || !top || top->fd < 0) {
        errno = rest ? ENOENT : EXDEV;
        return -1;
    }
    return (int)syscall(SYS_openat2, top->fd, *rest ? rest : ".", how, sizeof *how);
}

int root_view_open(const char *path, int flags, uint64_t resolve) {
    struct how how = {(uint64_t)(O_PATH | O_CLOEXEC | flags), 0, BELOW | NO_MAGIC_LINKS | resolve};
    const char *below;
    int start = path_start(path, &below);
    int near = start >= 0 ? (int)syscall(SYS_openat2, start, below, &how, sizeof how) : -1;
    if (near >= 0 || (start >= 0 && errno != EXDEV)) /* EXDEV: it leads out of there */
        return near;
    if (top_count)
        return open_below_top(path, &how);
    how.resolve = INSIDE | NO_MAGIC_LINKS | resolve;
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}
