/* What lies at a path in the guest's root. For people to read, never to decide: the guest may change it at
 * any moment. */
#define _GNU_SOURCE
#include "fortify.h"
#include "sight.h"
#include "directory.h"
#include "hash.h"
#include "identity.h"
#include "monotonic.h"
#include "numbers.h"
#include "root_view.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { RESOLVE_NO_LINKS = 0x04 };

static dev_t own_device; /* of the files that are ours, not the host's */
static bool proc_known;
static dev_t proc_device;

void sight_attach(int root, int proc) {
    struct stat st;
    if (root >= 0 && fstat(root, &st) == 0) {
        own_device = st.st_dev;
        root_view_attach(root);
    }
    proc_known = proc >= 0;
    if (proc_known && fstat(proc, &st) == 0)
        proc_device = st.st_dev;
}

/* A file of /proc itself, not of a process, that its mode closes to the guest. Such files have inode numbers
 * from 0xf0000000 on; those of processes count up from 1. */
static bool closed_in_proc(const struct stat *st) {
    enum { OTHERS = 077 };
    return proc_known && st->st_dev == proc_device && st->st_ino >= 0xf0000000U &&
           !(st->st_mode & OTHERS) && st->st_uid != guest_host_uid();
}

/* The common case in one call: it exists, and no link is on the way. */
static int open_at_once(const char *path, int flags) { return root_view_open(path, flags, 0); }

static bool read_only(int fd) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/* A path resolved one name at a time, because it ends in nothing or leads through links. */
struct walk {
    char done[PATH_MAX]; /* the resolved part, without links and dots; "" is the root */
    size_t done_len;
    char left[2 * PATH_MAX];
    size_t next; /* the index where resolution continues */
    int at;      /* -1: the root */
    int links;
    bool ours;
    bool personal; /* it leads through /proc/self, or through an open file of a process */
};

static pid_t asker;

void sight_asker(pid_t task) { asker = task; }

/* The target of /proc/self for the asking process; ours would be another. */
static bool name_of_asker(char name[24]) {
    char status[1024];
    uint64_t inside = asker < 0 ? (uint64_t)-(int64_t)asker : 0;
    if (asker > 0 && task_read(asker, "status", status, sizeof status) > 0)
        inside = number_after(status, "\nNSpid:\t", true);
    snprintf(name, 24, "%llu", (unsigned long long)inside);
    return inside > 0;
}

static bool opened(struct walk *w, int fd) {
    struct stat st;
    if (w->at >= 0)
        close(w->at);
    w->at = fd;
    w->ours = fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == own_device);
    return true;
}

/* From the root again, along the resolved part. */
static bool back_up(struct walk *w) {
    char *slash = strrchr(w->done, '/');
    if (slash)
        *slash = '\0';
    w->done_len = slash ? (size_t)(slash - w->done) : w->done_len;
    return opened(w, w->done[0] ? open_at_once(w->done, O_NOFOLLOW) : -1) && (w->at >= 0 || !w->done[0]);
}

static bool follow_link(struct walk *w, const char *target) {
    char rest[2 * PATH_MAX];
    size_t len = strlen(target), more = strlen(w->left + w->next);
    if (++w->links > 40 || len + more + 2 > sizeof rest)
        return false;
    memcpy(rest, target, len);
    rest[len] = '/';
    memcpy(rest + len + 1, w->left + w->next, more + 1);
    memcpy(w->left, rest, len + more + 2);
    w->next = 0;
    if (target[0] == '/') {
        w->done[0] = '\0';
        w->done_len = 0;
        opened(w, -1);
    }
    return true;
}

enum stride { STEPPED, LINKED, ENDED, MISSING, LOST };

static enum stride stride(struct walk *w, bool follow) {
    char name[NAME_MAX + 1], target[PATH_MAX];
    const char *from = w->left + w->next + strspn(w->left + w->next, "/");
    size_t len = strcspn(from, "/"), done = w->done_len;
    const char *rest = from + len;
    bool last = rest[strspn(rest, "/")] == '\0';
    if (len == 0)
        return ENDED;
    if (len > NAME_MAX || done + len + 2 > sizeof w->done)
        return LOST;
    memcpy(name, from, len);
    name[len] = '\0';
    w->next = (size_t)(rest - w->left);
    if (strcmp(name, ".") == 0)
        return STEPPED;
    if (strcmp(name, "..") == 0)
        return back_up(w) ? STEPPED : LOST;
    if (strcmp(w->done, "/proc") == 0 && (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0)) {
        w->personal = true;
        return name_of_asker(target) && follow_link(w, target) ? LINKED : LOST;
    }
    const char *link = w->at < 0 ? root_view_link(name, len) : NULL;
    if (link)
        return follow_link(w, link) ? LINKED : LOST;
    int fd = w->at < 0 ? root_view_enter(name, len) : openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
        return LOST;
    struct stat st = {0};
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode) && (follow || !last)) {
        ssize_t n = readlinkat(fd, "", target, sizeof target - 1);
        close(fd);
        if (n <= 0)
            return LOST;
        target[n] = '\0';
        static const char proc[] = "/proc/";
        if (strnlen(w->done, sizeof proc) >= sizeof proc && memcmp(w->done, proc, sizeof proc - 1) == 0) {
            w->personal = true; /* of a process: its root, its directory, or something that it has open */
            if (last || target[0] != '/')
                return LOST;
        }
        return follow_link(w, target) ? LINKED : LOST;
    }
    w->done[done] = '/';
    memcpy(w->done + done + 1, name, len + 1);
    w->done_len = done + 1 + len;
    if (fd < 0)
        return MISSING; /* the path ends here; we are at the directory that lacks it */
    opened(w, fd);
    return STEPPED;
}

static void describe(struct sight *sight, int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return;
    sight->there = true;
    sight->ours = st.st_dev == own_device;
    sight->directory = S_ISDIR(st.st_mode);
    sight->link = S_ISLNK(st.st_mode);
    sight->mode = (uint16_t)st.st_mode;
    sight->owner = st.st_uid;
    /* Writing to a device, a pipe or a socket changes no file. */
    sight->read_only = (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) && read_only(fd);
    sight->masked = (sight->ours && (st.st_mode & 07777) == 0) || closed_in_proc(&st);
}

/* No "//", no "." and no "..": if it was opened without a link, this is its canonical path. */
static bool is_plain(const char *path, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (path[i] != '/')
            continue;
        size_t dots = strspn(path + i + 1, ".");
        char after = path[i + 1 + dots];
        if (dots <= 2 && (after == '/' || after == '\0'))
            return false;
    }
    return true;
}

/* A long path that does not exist usually lacks only its last name, and has no links: then one call does what
 * otherwise takes one per name. A guest deep in directories asks at every step. */
static void start_at_parent(struct walk *w) {
    static const char proc[] = "/proc";
    const char *slash = strrchr(w->left, '/');
    size_t len = slash ? (size_t)(slash - w->left) : 0;
    if (w->left[0] != '/' || len < sizeof proc || len >= sizeof w->done || !is_plain(w->left, len))
        return;
    if (memcmp(w->left, proc, sizeof proc - 1) == 0 && w->left[sizeof proc - 1] == '/')
        return; /* the target depends on the asking process */
    if (root_view_link(w->left + 1, strcspn(w->left + 1, "/")))
        return;
    memcpy(w->done, w->left, len);
    w->done[len] = '\0';
    int fd = root_view_open(w->done, 0, RESOLVE_NO_LINKS);
    if (fd < 0) {
        w->done[0] = '\0';
        return;
    }
    w->done_len = w->next = len;
    opened(w, fd);
}

static bool personal; /* the last path resolved */

static bool walk(const char *path, bool follow, struct sight *sight, char *resolved) {
    static struct walk w;
    w = (struct walk){.at = -1, .ours = true};
    size_t len = strlen(path);
    memcpy(w.left, path, len + 1);
    start_at_parent(&w);
    enum stride what;
    do {
        what = stride(&w, follow);
    } while (what == STEPPED || what == LINKED);
    bool missing = what == MISSING;
    if (missing && w.personal && strnlen(w.done, 6) == 6 && memcmp(w.done, "/proc/", 6) == 0)
        what = LOST; /* depends on the asking process, and is about that process only */
    personal = w.personal;
    if (what == ENDED && w.at >= 0) {
        describe(sight, w.at);
    } else if (missing) {
        const char *rest = w.left + w.next + strspn(w.left + w.next, "/");
        sight->ours = w.ours;
        sight->parent = *rest == '\0';
        bool in_root = w.at < 0;
        sight->read_only = sight->parent && (in_root || read_only(w.at)); /* the root always is */
        size_t done = w.done_len, more = strlen(rest);
        if (resolved && done + more + 2 < PATH_MAX) {
            memcpy(resolved, w.done, done);
            resolved[done] = '/';
            memcpy(resolved + done + (more > 0), rest, more + 1);
        }
    } else if (what == ENDED) { /* the root itself */
        *sight = (struct sight){.there = true, .ours = true, .directory = true, .read_only = true};
    }
    if (w.at >= 0)
        close(w.at);
    return what == ENDED || what == MISSING;
}

static bool look(const char *path, bool follow, struct sight *sight, char *resolved) {
    *sight = (struct sight){0};
    personal = false;
    if (resolved)
        memcpy(resolved, path, strlen(path) + 1);
    int fd = open_at_once(path, follow ? 0 : O_NOFOLLOW);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != EXDEV && errno != ELOOP)
        return false;
    if (fd < 0)
        return walk(path, follow, sight, resolved);
    describe(sight, fd);
    close(fd);
    return true;
}

static void note_one(const char *name, void *context) {
    (void)name;
    *(bool *)context = false;
}

bool sight_empty(const char *path) {
    bool empty = true;
    int at = !root_view_known() ? -1 : open_at_once(path, O_NOFOLLOW);
    int dir = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0)
        each_entry(dir, note_one, &empty);
    if (dir >= 0)
        close(dir);
    if (at >= 0)
        close(at);
    return empty;
}

/* A cache of looks, valid until something is made, moved or removed. */
enum { MAX_SEEN = 1024, SEEN_ROOM = 232, SETTLED_US = 5000 };
static struct {
    char path[SEEN_ROOM]; /* the whole path: a guest can choose names with equal hashes */
    bool follow;
    uint32_t age;
    struct sight sight;
} seen[MAX_SEEN];
static uint32_t age = 1;
static int64_t changed_us;

/* The calm directory: one of the run's own, not read-only, in which something was to be made. A program that
 * makes and removes many files there costs one call each. Files that come and go leave its subdirectories as
 * they are: only calls that move, link, or make or remove something else may change those. */
static struct {
    char path[SEEN_ROOM];
    size_t len; /* 0: none */
    int fd;
    unsigned elsewhere; /* looks in a row at other directories */
} calm;
static int64_t moved_us;

static void forget_calm(void) {
    if (calm.len > 0)
        close(calm.fd);
    calm.len = 0;
    calm.elsewhere = 0;
}

void sight_changed(bool files_only) {
    age++;
    changed_us = now_us();
    if (files_only)
        return;
    moved_us = changed_us;
    forget_calm();
}

static size_t parent_len(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static void note_calm(const char *path, const struct sight *sight) {
    enum { PATIENCE = 8 };
    size_t len = parent_len(path);
    struct stat st;
    if (sight->there || !sight->ours || !sight->parent || sight->read_only || personal)
        return;
    if ((calm.len > 0 && calm.elsewhere < PATIENCE) || len == 0 || len >= sizeof calm.path || !is_plain(path, len) || now_us() - moved_us < SETTLED_US)
        return;
    forget_calm();
    memcpy(calm.path, path, len);
    calm.path[len] = '\0';
    calm.fd = root_view_open(calm.path, 0, RESOLVE_NO_LINKS);
    if (calm.fd >= 0 && fstat(calm.fd, &st) == 0 && st.st_dev == own_device && !read_only(calm.fd))
        calm.len = len;
    else if (calm.fd >= 0)
        close(calm.fd);
}

/* A file, or nothing, in the calm directory; anything else takes the usual look. */
static bool look_at_calm(const char *path, struct sight *sight) {
    struct stat st;
    const char *name = path + calm.len + 1;
    if (calm.len == 0)
        return false;
    if (parent_len(path) != calm.len || memcmp(path, calm.path, calm.len) != 0 || *name == '\0' ||
        strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        calm.elsewhere++;
        return false;
    }
    calm.elsewhere = 0;
    if (fstatat(calm.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        *sight = (struct sight){.ours = true, .parent = true};
        return errno == ENOENT;
    }
    *sight = (struct sight){.there = true, .ours = true, .mode = (uint16_t)st.st_mode, .owner = st.st_uid};
    sight->masked = (st.st_mode & 07777) == 0;
    return S_ISREG(st.st_mode) && st.st_dev == own_device;
}

bool sight_look(const char *path, bool follow, struct sight *sight, char *resolved) {
    if (!root_view_known())
        return false;
    if (look_at_calm(path, sight)) {
        if (resolved)
            memcpy(resolved, path, strlen(path) + 1);
        return true;
    }
    size_t len = strlen(path), slot = hash_bytes(HASH_START ^ follow, path, len) % MAX_SEEN;
    if (seen[slot].age == age && seen[slot].follow == follow && strcmp(seen[slot].path, path) == 0) {
        *sight = seen[slot].sight;
        return true;
    }
    if (!look(path, follow, sight, resolved))
        return false;
    note_calm(path, sight);
    if (!sight->there && sight->ours)
        return true; /* resolved again, because the caller wants the resolved path */
    if (personal || len >= SEEN_ROOM)
        return true;
    if (now_us() - changed_us < SETTLED_US) /* the call that changes something may still be under way */
        return true;
    memcpy(seen[slot].path, path, len + 1);
    seen[slot].follow = follow;
    seen[slot].age = age;
    seen[slot].sight = *sight;
    return true;
}
