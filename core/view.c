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

enum { RESOLVE_NO_MAGIC_LINKS = 0x02, RESOLVE_INSIDE = 0x10, PAGE = 4096 };

static int root = -1;
static dev_t own_device; /* of the files that are ours, not the host's */

void view_attach(int root_fd) {
    struct stat st;
    if (root_fd >= 0 && fstat(root_fd, &st) == 0) {
        root = root_fd;
        own_device = st.st_dev;
    }
}

ssize_t view_bytes(pid_t task, uint64_t address, void *to, size_t size) {
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};
    return syscall(SYS_process_vm_readv, task, &here, 1UL, &there, 1UL, 0UL);
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
    char link[64];
    if (dir == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)task);
    else
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)task, dir);
    return readlinkat(AT_FDCWD, link, to, size);
}

bool view_path(pid_t task, int dir, uint64_t address, char *path) {
    char name[PATH_MAX];
    if (!address || !view_string(task, address, name, sizeof name) || name[0] == '\0')
        return false; /* an empty one means the descriptor itself */
    if (name[0] == '/') {
        memcpy(path, name, strlen(name) + 1);
        return true;
    }
    ssize_t len = start_of(task, dir, path, PATH_MAX - 1);
    if (len <= 0 || path[0] != '/' || (size_t)len + strlen(name) + 2 > PATH_MAX)
        return false;
    if (len > 1)
        path[len++] = '/';
    memcpy(path + len, name, strlen(name) + 1);
    return true;
}

static int open_inside(const char *path, int flags) {
    const struct {
        uint64_t flags, mode, resolve;
    } how = {(uint64_t)(O_PATH | O_CLOEXEC | flags), 0, RESOLVE_INSIDE | RESOLVE_NO_MAGIC_LINKS};
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

static bool read_only(int fd) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/* The deepest directory on the way that is there. */
static void look_above(const char *path, struct sight *sight) {
    char above[PATH_MAX];
    size_t len = strnlen(path, sizeof above - 1);
    memcpy(above, path, len);
    above[len] = '\0';
    for (bool first = true;; first = false) {
        while (len > 1 && above[len - 1] == '/')
            above[--len] = '\0';
        char *slash = strrchr(above, '/');
        if (!slash)
            return;
        slash[slash == above ? 1 : 0] = '\0';
        len = strlen(above);
        int fd = open_inside(above, O_DIRECTORY);
        struct stat st;
        if (fd >= 0) {
            sight->ours = fstat(fd, &st) == 0 && st.st_dev == own_device;
            sight->parent = first;
            sight->read_only = first && read_only(fd);
            close(fd);
            return;
        }
        if (len <= 1)
            return;
    }
}

/* What these mean depends on who asks, and we are not the guest. */
static bool about_the_asker(const char *path) {
    static const char *const names[] = {"/proc/self", "/proc/thread-self", "/dev/fd", "/dev/std"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strnlen(path, len) == len && memcmp(path, names[i], len) == 0)
            return true;
    }
    return false;
}

static bool look(const char *path, bool follow, struct sight *sight) {
    *sight = (struct sight){0};
    if (about_the_asker(path))
        return false;
    int fd = open_inside(path, follow ? 0 : O_NOFOLLOW);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
        return false;
    if (fd < 0) {
        look_above(path, sight);
        return true;
    }
    struct stat st;
    if (fstat(fd, &st) == 0) {
        sight->there = true;
        sight->ours = st.st_dev == own_device;
        sight->directory = S_ISDIR(st.st_mode);
        sight->link = S_ISLNK(st.st_mode);
        /* Writing to a device, a pipe or a socket changes no file. */
        sight->read_only = (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) && read_only(fd);
        sight->masked = sight->ours && (st.st_mode & 07777) == 0;
    }
    close(fd);
    return true;
}

/* What was seen where, until something is made, moved or removed. */
enum { MAX_SEEN = 1024, SETTLED_US = 5000 };
static struct {
    uint64_t hash;
    uint32_t age;
    struct sight sight;
} seen[MAX_SEEN];
static uint32_t age = 1;
static int64_t changed_us;

void view_changed(void) {
    age++;
    changed_us = now_us();
}

static uint64_t hashed(const char *path, bool follow) {
    uint64_t hash = 14695981039346656037ULL ^ (uint64_t)follow;
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * 1099511628211ULL;
    return hash;
}

bool view_look(const char *path, bool follow, struct sight *sight) {
    if (root < 0)
        return false;
    uint64_t hash = hashed(path, follow);
    size_t slot = hash % MAX_SEEN;
    if (seen[slot].hash == hash && seen[slot].age == age) {
        *sight = seen[slot].sight;
        return true;
    }
    if (!look(path, follow, sight))
        return false;
    if (now_us() - changed_us < SETTLED_US) /* the call that changes something may be under way still */
        return true;
    seen[slot].hash = hash;
    seen[slot].age = age;
    seen[slot].sight = *sight;
    return true;
}
