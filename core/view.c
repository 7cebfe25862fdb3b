/* Looking at a call that a guest is making: the strings it points at, the path it means, and what
 * lies there in the guest's own root. For people to read, never to decide: the guest may change all
 * of it at any moment. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

enum { RESOLVE_NO_MAGIC_LINKS = 0x02, RESOLVE_NO_LINKS = 0x04, RESOLVE_BELOW = 0x08, RESOLVE_INSIDE = 0x10, PAGE = 4096 };

static int root = -1;
static struct top tops[MAX_TOPS]; /* where the root itself must not be asked; see lookups.c */
static size_t top_count;
static dev_t own_device; /* of the files that are ours, not the host's */

void view_attach(int root_fd) {
    struct stat st;
    if (root_fd >= 0 && fstat(root_fd, &st) == 0) {
        root = root_fd;
        own_device = st.st_dev;
    }
}

void view_top(const struct top *top) {
    if (top_count < MAX_TOPS)
        tops[top_count++] = *top;
}

static int guests_proc = -1;
static dev_t proc_device;

void view_proc(int fd) {
    struct stat st;
    guests_proc = fd;
    if (fd >= 0 && fstat(fd, &st) == 0)
        proc_device = st.st_dev;
}

/* A file of /proc itself, not of a process, that is closed to the guest as it is. Such files have
 * numbers from 0xf0000000 on; those of processes count up from 1. */
static bool closed_in_proc(const struct stat *st) {
    enum { OTHERS = 077 };
    return guests_proc >= 0 && st->st_dev == proc_device && st->st_ino >= 0xf0000000U &&
           !(st->st_mode & OTHERS) && st->st_uid != guest_host_uid();
}

static int proc_of(pid_t task, const char *name, char path[64]) {
    if (task < 0)
        snprintf(path, 64, "%d/%s", (int)-task, name);
    else
        snprintf(path, 64, "/proc/%d/%s", (int)task, name);
    return task < 0 ? guests_proc : AT_FDCWD;
}

int view_open(pid_t task, const char *name, int flags) {
    char path[64];
    int dir = proc_of(task, name, path);
    return openat(dir, path, flags | O_CLOEXEC);
}

ssize_t view_read(pid_t task, const char *name, char *to, size_t size) {
    int fd = view_open(task, name, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n;
}

static uint64_t missed;

uint64_t view_missed(void) { return missed; }

/* What the kernel reads for the guest, and we may not, is counted at least. */
static void note_missed(void) { missed += errno == EPERM || errno == EACCES; }

/* By its id inside, a task is known to the guest's own /proc alone. This also reads pages that a
 * program may only write to, as the kernel does when it takes a path from there; process_vm_readv
 * does not. */
static ssize_t bytes_of_file(pid_t task, uint64_t address, void *to, size_t size) {
    int fd = view_open(task, "mem", O_RDONLY);
    ssize_t n = fd < 0 ? -1 : pread(fd, to, size, (off_t)address);
    if (n < 0)
        note_missed();
    if (fd >= 0)
        close(fd);
    return n;
}

ssize_t view_bytes(pid_t task, uint64_t address, void *to, size_t size) {
    if (task < 0)
        return bytes_of_file(task, address, to, size);
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t n = syscall(SYS_process_vm_readv, task, &here, 1UL, &there, 1UL, 0UL);
    return n < 0 ? bytes_of_file(task, address, to, size) : n;
}

/* Page by page: what follows the string's last page may not be there at all. */
bool view_string(pid_t task, uint64_t address, char *to, size_t size) {
    for (size_t have = 0; have < size;) {
        size_t piece = PAGE - (address + have) % PAGE;
        if (piece > size - have)
            piece = size - have;
        ssize_t n = view_bytes(task, address + have, to + have, piece);
        if (n <= 0)
            return false;
        if (strnlen(to + have, (size_t)n) < (size_t)n)
            return true;
        have += (size_t)n;
    }
    return false;
}

/* The directory that a relative path starts from, as the guest knows it. */
static ssize_t start_of(pid_t task, int dir, char *to, size_t size) {
    char name[24], path[64];
    snprintf(name, sizeof name, dir == AT_FDCWD ? "cwd" : "fd/%d", dir);
    int proc = proc_of(task, name, path);
    return readlinkat(proc, path, to, size);
}

/* Where the path that is looked at starts, if that is deep: from there on its names are few, while a
 * guest that goes down makes the whole path longer with each call. */
enum { DEEP = 256 };
static struct {
    char path[PATH_MAX];
    size_t len;
    int fd;
} start = {.fd = -1};

static void hold_start(pid_t task, int dir, const char *path, ssize_t len) {
    char name[24], link[64];
    struct stat st;
    if (start.fd >= 0)
        close(start.fd);
    start.fd = -1;
    if (len < DEEP)
        return;
    snprintf(name, sizeof name, dir == AT_FDCWD ? "cwd" : "fd/%d", dir);
    int proc = proc_of(task, name, link);
    start.fd = openat(proc, link, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start.fd >= 0 && (fstat(start.fd, &st) < 0 || st.st_nlink == 0)) {
        close(start.fd); /* removed: its name says so, and leads nowhere */
        start.fd = -1;
    }
    start.len = (size_t)len;
    memcpy(start.path, path, (size_t)len);
}

/* What is left of a path from there on; NULL if it does not lead through there. */
static const char *below_start(const char *path) {
    if (start.fd < 0 || strnlen(path, start.len) < start.len || memcmp(path, start.path, start.len) != 0)
        return NULL;
    const char *rest = path + start.len;
    if (*rest != '/' && *rest != '\0')
        return NULL;
    rest += strspn(rest, "/");
    return *rest ? rest : ".";
}

/* The way up that a relative path begins with: no link is in what the kernel says of where it starts.
 * Otherwise a deep start and a short way up would be longer than a path can be, and a start that was
 * removed would be looked for. */
static ssize_t go_up(const char *path, ssize_t from, const char **name, size_t *len) {
    for (;;) { /* what comes from an address has no NUL at its end */
        size_t dots = 0;
        while (dots < *len && dots < 3 && (*name)[dots] == '.')
            dots++;
        if (dots == 0 || dots == 3 || (dots < *len && (*name)[dots] != '/'))
            return from;
        while (dots == 2 && from > 1 && path[--from] != '/')
            ;
        while (dots < *len && (*name)[dots] == '/')
            dots++;
        *name += dots;
        *len -= dots;
    }
}

bool view_from(pid_t task, int dir, const char *name, size_t len, char *path) {
    ssize_t from = name[0] == '/' ? 0 : start_of(task, dir, path, PATH_MAX - 1);
    if (from < 0)
        missed += errno != ENOENT; /* no such descriptor: the kernel says so as well */
    if (from < 0 || (from > 0 && path[0] != '/'))
        return false;
    hold_start(task, dir, path, from);
    if (from > 0)
        from = go_up(path, from, &name, &len);
    if ((size_t)from + (from > 1) + len + 1 > PATH_MAX) {
        missed++;
        return false;
    }
    if (from > 1)
        path[from++] = '/';
    memcpy(path + from, name, len);
    path[(size_t)from + len] = '\0';
    return true;
}

bool view_path(pid_t task, int dir, uint64_t address, char *path) {
    char name[PATH_MAX];
    if (!address || !view_string(task, address, name, sizeof name) || name[0] == '\0')
        return false; /* an empty one means the descriptor itself */
    return view_from(task, dir, name, strlen(name), path);
}

static const struct top *top_named(const char *name, size_t len) {
    for (size_t i = 0; i < top_count; i++)
        if (strlen(tops[i].name) == len && memcmp(tops[i].name, name, len) == 0)
            return &tops[i];
    return NULL;
}

static int open_resolved(const char *path, int flags, uint64_t resolve) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)(O_PATH | O_CLOEXEC | flags), 0, RESOLVE_BELOW | RESOLVE_NO_MAGIC_LINKS | resolve};
    const char *below = below_start(path);
    int near = below ? (int)syscall(SYS_openat2, start.fd, below, &how, sizeof how) : -1;
    if (near >= 0 || (below && errno != EXDEV)) /* EXDEV: it leads out of there */
        return near;
    if (!top_count)
        how.resolve = RESOLVE_INSIDE | RESOLVE_NO_MAGIC_LINKS | resolve;
    if (!top_count)
        return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    path += strspn(path, "/");
    size_t len = strcspn(path, "/");
    const struct top *top = top_named(path, len);
    const char *rest = path + len + strspn(path + len, "/");
    char led[PATH_MAX];
    if (top && top->link[0]) { /* /lib/x is usr/lib/x */
        size_t prefix = strcspn(top->link, "/"), more = strlen(top->link) - prefix, left = strlen(rest);
        if (top->link[0] == '/' || more + left + 2 > sizeof led) {
            errno = EXDEV;
            return -1;
        }
        memcpy(led, top->link + prefix + (more > 0), more - (more > 0));
        more -= more > 0;
        led[more] = '/';
        memcpy(led + more + 1, rest, left + 1);
        top = top_named(top->link, prefix);
        rest = more ? led : led + 1;
    }
    if (!top || top->fd < 0) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat2, top->fd, *rest ? rest : ".", &how, sizeof how);
}

/* The usual case in one call: it is there, and no link leads elsewhere. */
static int open_at_once(const char *path, int flags) { return open_resolved(path, flags, 0); }

static bool read_only(int fd) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/* A way that is walked one name at a time, because it ends in nothing or leads through links. */
struct walk {
    char done[PATH_MAX]; /* what was passed, free of links and dots; "" is the root */
    size_t done_len;
    char left[2 * PATH_MAX];
    size_t next; /* where in it the way goes on */
    int at;      /* -1: the root */
    int links;
    bool ours;
    bool personal; /* it leads through /proc/self, or through what a process has open */
};

static pid_t asker;

void view_asker(pid_t task) { asker = task; }

/* What /proc/self leads to for who asks; we are not the guest. */
static bool name_of_asker(char name[24]) {
    char status[1024];
    uint64_t inside = asker < 0 ? (uint64_t)-(int64_t)asker : 0;
    if (asker > 0 && view_read(asker, "status", status, sizeof status) > 0)
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

/* From the root again, along what is known to be free of links. */
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

static int open_next(const struct walk *w, const char *name, size_t len) {
    if (w->at >= 0 || !top_count)
        return openat(w->at >= 0 ? w->at : root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const struct top *top = top_named(name, len);
    if (top && top->fd >= 0)
        return fcntl(top->fd, F_DUPFD_CLOEXEC, 3);
    errno = ENOENT;
    return -1;
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
    const struct top *top = w->at < 0 && top_count ? top_named(name, len) : NULL;
    if (top && top->link[0])
        return follow_link(w, top->link) ? LINKED : LOST;
    int fd = open_next(w, name, len);
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
        return MISSING; /* here it ends; where we stand is the directory that lacks it */
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

/* No "//", no "." and no "..": what was opened along it without a link is known by this very path. */
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

/* A long way that ends in nothing is usually there but for its last name, and free of links: then
 * one call does what else takes one for each name. A guest deep in directories asks at every step. */
static void start_at_parent(struct walk *w) {
    static const char proc[] = "/proc";
    const char *slash = strrchr(w->left, '/');
    size_t len = slash ? (size_t)(slash - w->left) : 0;
    if (w->left[0] != '/' || len < sizeof proc || len >= sizeof w->done || !is_plain(w->left, len))
        return;
    if (memcmp(w->left, proc, sizeof proc - 1) == 0 && w->left[sizeof proc - 1] == '/')
        return; /* what stands there depends on who asks */
    const struct top *top = top_count ? top_named(w->left + 1, strcspn(w->left + 1, "/")) : NULL;
    if (top && top->link[0])
        return;
    memcpy(w->done, w->left, len);
    w->done[len] = '\0';
    int fd = open_resolved(w->done, 0, RESOLVE_NO_LINKS);
    if (fd < 0) {
        w->done[0] = '\0';
        return;
    }
    w->done_len = w->next = len;
    opened(w, fd);
}

static bool personal; /* what was walked last */

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
    if (w.personal && strnlen(w.done, 6) == 6 && memcmp(w.done, "/proc/", 6) == 0)
        what = LOST; /* depends on who asks, and is nobody's secret but its own */
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

bool view_empty(const char *path) {
    bool empty = true;
    int at = root < 0 ? -1 : open_at_once(path, O_NOFOLLOW);
    int dir = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0)
        each_entry(dir, note_one, &empty);
    if (dir >= 0)
        close(dir);
    if (at >= 0)
        close(at);
    return empty;
}

/* What was seen where, until something is made, moved or removed. */
enum { MAX_SEEN = 1024, SEEN_ROOM = 232, SETTLED_US = 5000 };
static struct {
    char path[SEEN_ROOM]; /* whole: a guest can choose names whose hashes agree */
    bool follow;
    uint32_t age;
    struct sight sight;
} seen[MAX_SEEN];
static uint32_t age = 1;
static int64_t changed_us;

void view_changed(void) {
    age++;
    changed_us = now_us();
}

bool view_look(const char *path, bool follow, struct sight *sight, char *resolved) {
    if (root < 0)
        return false;
    size_t len = strlen(path), slot = hash_bytes(HASH_START ^ follow, path, len) % MAX_SEEN;
    if (seen[slot].age == age && seen[slot].follow == follow && strcmp(seen[slot].path, path) == 0) {
        *sight = seen[slot].sight;
        return true;
    }
    if (!look(path, follow, sight, resolved))
        return false;
    if (!sight->there && sight->ours)
        return true; /* the way there is worth walking again, for it is told */
    if (personal || len >= SEEN_ROOM)
        return true;
    if (now_us() - changed_us < SETTLED_US) /* the call that changes something may be under way still */
        return true;
    memcpy(seen[slot].path, path, len + 1);
    seen[slot].follow = follow;
    seen[slot].age = age;
    seen[slot].sight = *sight;
    return true;
}
