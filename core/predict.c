/* Predicts a call on a path from a look at the path beforehand: the errno that it will get, and the wall that
 * it will run into. For people: a guest may change everything between our look and its call. */
#define _GNU_SOURCE
#include "fortify.h"
#include "predict.h"
#include "call.h"
#include "numbers.h"
#include "refusals.h"
#include "sight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4, NO_REPLACE = 1, EXCHANGE = 2 };

/* The call's argument at a place; 0 if it has none. */
static uint64_t argument(const struct call *call, int8_t place) { return place < 0 ? 0 : call->args[place]; }

/* The flags of an open; creat(2) has no flags argument, and implies these. */
static uint64_t open_flags(const struct call *call, const struct watched *w) {
    return w->flags < 0 ? (uint64_t)(O_CREAT | O_WRONLY | O_TRUNC) : call->args[w->flags];
}

static bool writes(uint64_t flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC); }

bool predict_follows(const struct call *call, const struct watched *w) {
    uint64_t flags = argument(call, w->flags);
    if (w->kind == WATCH_OPEN)
        return !(flags & O_NOFOLLOW) && !((flags & O_CREAT) && (flags & O_EXCL));
    return !w->nofollow && !(flags & AT_SYMLINK_NOFOLLOW);
}

/* A guest has no capabilities, so the mode bits decide. Group membership is unknown: what a group may do
 * counts as allowed. */
static bool may(const struct call *call, const struct sight *s, unsigned what) {
    struct stat st;
    char path[32];
    unsigned others = (s->mode >> 3 | s->mode) & 7, owner = s->mode >> 6 & 7;
    if (!s->mode || (others & owner & what) == what)
        return true;
    snprintf(path, sizeof path, "/proc/%d", (int)call->task);
    if (stat(path, &st) < 0)
        return true;
    return ((st.st_uid == s->owner ? owner : others) & what) == what;
}

static bool has_terminal(pid_t task) {
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)task);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')'); /* then state, parent, group, session, terminal */
    uint64_t number = 1;
    if (!at || strlen(at) < 4)
        return true;
    at += 4;
    for (int i = 0; at && i < 4; i++) {
        at = next_number(at, &number);
        if (at)
            at += strspn(at, " ");
    }
    return number != 0;
}

static int opening(const struct call *call, uint64_t flags, const char *path, const struct sight *s) {
    uint64_t access = flags & O_ACCMODE;
    if ((flags & O_CREAT) && (flags & O_EXCL))
        return EEXIST;
    if ((flags & O_DIRECTORY) && !s->directory)
        return s->link ? ELOOP : ENOTDIR;
    if (flags & O_PATH)
        return 0;
    if (s->link)
        return ELOOP;
    if (s->directory && ((flags & O_CREAT) || writes(flags)) && (flags & O_TMPFILE) != O_TMPFILE)
        return EISDIR;
    if (writes(flags) && s->read_only)
        return EROFS;
    if (!may(call, s, (access != O_WRONLY ? MAY_READ : 0U) | (writes(flags) ? MAY_WRITE : 0U)))
        return EACCES;
    return strcmp(path, "/dev/tty") == 0 && !has_terminal(call->task) ? ENXIO : 0;
}

static int removing(const struct call *call, const struct watched *w, const char *path, const struct sight *s) {
    bool whole = w->directory || (argument(call, w->flags) & AT_REMOVEDIR);
    if (whole != s->directory)
        return s->directory ? EISDIR : ENOTDIR;
    if (s->read_only)
        return EROFS;
    return whole && !sight_empty(path) ? ENOTEMPTY : 0;
}

static int looking(const struct call *call, const struct watched *w, const struct sight *s) {
    if (w->link)
        return s->link ? 0 : EINVAL;
    if (w->directory)
        return !s->directory ? ENOTDIR : may(call, s, MAY_EXECUTE) ? 0 : EACCES;
    uint64_t asked = argument(call, w->access) & 7;
    if ((asked & MAY_WRITE) && s->read_only)
        return EROFS;
    return may(call, s, (unsigned)asked) ? 0 : EACCES;
}

int predict(const struct call *call, const struct watched *w, const char *path, const struct sight *s) {
    uint64_t flags = open_flags(call, w);
    bool makes = w->kind == WATCH_MAKE || w->kind == WATCH_BIND || (w->kind == WATCH_OPEN && (flags & O_CREAT));
    if (!s->there)
        return !makes || !s->parent ? ENOENT : s->read_only ? EROFS : 0;
    switch (w->kind) {
    case WATCH_OPEN:
        return opening(call, flags, path, s);
    case WATCH_MAKE:
        return EEXIST;
    case WATCH_REMOVE:
        return removing(call, w, path, s);
    case WATCH_CHANGE:
    case WATCH_MOVE:
        return s->read_only ? EROFS : 0;
    case WATCH_LOOK:
        return looking(call, w, s);
    case WATCH_BIND:
        return EADDRINUSE;
    case WATCH_EXEC:
        return s->directory || !may(call, s, MAY_EXECUTE) ? EACCES : 0;
    default:
        return 0;
    }
}

int predict_other(const struct call *call, const struct watched *w, const struct sight *from,
                  const struct sight *to) {
    uint64_t flags = w->kind == WATCH_MOVE ? argument(call, w->flags) : 0;
    if (!to->there)
        return !to->parent || (flags & EXCHANGE) ? ENOENT : to->read_only ? EROFS : 0;
    if (w->kind == WATCH_LINK || (flags & NO_REPLACE))
        return EEXIST;
    if (to->read_only)
        return EROFS;
    if (from->directory != to->directory && !(flags & EXCHANGE))
        return to->directory ? EISDIR : ENOTDIR;
    return 0;
}

/* The wall that a call on a path will run into, predicted. */

static enum hindrance reaching(const struct sight *s) {
    if (!s->there)
        return s->ours ? BY_ABSENCE : UNHINDERED;
    return UNHINDERED;
}

static enum hindrance changing(const struct sight *s) {
    return s->there && s->read_only ? BY_READ_ONLY : reaching(s);
}

static enum hindrance making(const struct sight *s) {
    if (s->there)
        return UNHINDERED;
    if (s->parent)
        return s->read_only ? BY_READ_ONLY : UNHINDERED;
    return s->ours ? BY_NO_PLACE : UNHINDERED;
}

enum { UNNAMED = 020000000 }; /* O_TMPFILE without the O_DIRECTORY in it, which differs */

static enum hindrance hindrance_of_opening(const struct sight *s, uint64_t flags) {
    if (flags & O_PATH)
        return reaching(s);
    if (s->there && s->masked)
        return BY_MASK;
    if (s->there) /* a directory can't be written to, but unnamed files can be made in it */
        return writes(flags) && s->read_only && (!s->directory || (flags & UNNAMED)) ? BY_READ_ONLY : UNHINDERED;
    return flags & O_CREAT ? making(s) : reaching(s);
}

enum hindrance predict_hindrance(const struct call *call, const struct watched *w, enum watch_kind kind,
                                 const struct sight *sight) {
    switch (kind) {
    case WATCH_OPEN:
        return hindrance_of_opening(sight, open_flags(call, w));
    case WATCH_CHANGE:
    case WATCH_REMOVE:
        return changing(sight);
    case WATCH_MAKE:
        return making(sight);
    default:
        return reaching(sight);
    }
}

bool predict_writes(const struct call *call, const struct watched *w) { return writes(open_flags(call, w)); }

bool predict_makes(const struct call *call, const struct watched *w) { return open_flags(call, w) & O_CREAT; }

bool predict_alters(const struct call *call, const struct watched *w) {
    switch (w->kind) {
    case WATCH_OPEN:
        return open_flags(call, w) & O_CREAT;
    case WATCH_MAKE:
    case WATCH_REMOVE:
    case WATCH_MOVE:
    case WATCH_LINK:
    case WATCH_CHANGE:
    case WATCH_CONNECT:
    case WATCH_BIND: /* a socket may get a name */
        return true;
    case WATCH_OTHER:
        return call->number == SYS_fchmod;
    default:
        return false;
    }
}

bool predict_alters_files(const struct call *call, const struct watched *w) {
    bool whole = w->directory || (argument(call, w->flags) & AT_REMOVEDIR);
    return w->kind == WATCH_OPEN || (w->kind == WATCH_REMOVE && !whole);
}
