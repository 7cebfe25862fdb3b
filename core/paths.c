/* The path that a call of the guest's refers to, as seen inside. */
#define _GNU_SOURCE
#include "fortify.h"
#include "paths.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory that a relative path starts from, as seen inside. */
static ssize_t start_of(pid_t task, int dir, char *to, size_t size) {
    char name[24];
    snprintf(name, sizeof name, dir == AT_FDCWD ? "cwd" : "fd/%d", dir);
    return task_link(task, name, to, size);
}

/* Where the last path that was read starts, if that is deep: relative to it, names stay short, while a guest
 * that descends makes the whole path longer with each call. */
enum { DEEP = 256 };
static struct {
    char path[PATH_MAX];
    size_t len;
    int fd;
} start = {.fd = -1};

static void hold_start(pid_t task, int dir, const char *path, ssize_t len) {
    char name[24];
    struct stat st;
    if (start.fd >= 0)
        close(start.fd);
    start.fd = -1;
    if (len < DEEP)
        return;
    snprintf(name, sizeof name, dir == AT_FDCWD ? "cwd" : "fd/%d", dir);
    start.fd = task_open(task, name, O_PATH | O_DIRECTORY);
    if (start.fd >= 0 && (fstat(start.fd, &st) < 0 || st.st_nlink == 0)) {
        close(start.fd); /* removed: its name says so, and leads nowhere */
        start.fd = -1;
    }
    start.len = (size_t)len;
    memcpy(start.path, path, (size_t)len);
}

int path_start(const char *path, const char **below) {
    if (start.fd < 0 || strnlen(path, start.len) < start.len || memcmp(path, start.path, start.len) != 0)
        return -1;
    const char *rest = path + start.len;
    if (*rest != '/' && *rest != '\0')
        return -1;
    rest += strspn(rest, "/");
    *below = *rest ? rest : ".";
    return start.fd;
}

/* Resolves leading ".." of a relative path: the kernel's name of the start has no links. Otherwise a deep
 * start and a short way up would exceed PATH_MAX, and a start that was removed would be looked for. */
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

bool path_from(pid_t task, int dir, const char *name, size_t len, char *path) {
    ssize_t from = name[0] == '/' ? 0 : start_of(task, dir, path, PATH_MAX - 1);
    if (from < 0 && errno != ENOENT) /* no such descriptor: the kernel says so as well */
        tasks_note_missed();
    if (from < 0 || (from > 0 && path[0] != '/'))
        return false;
    hold_start(task, dir, path, from);
    if (from > 0)
        from = go_up(path, from, &name, &len);
    if ((size_t)from + (from > 1) + len + 1 > PATH_MAX) {
        tasks_note_missed();
        return false;
    }
    if (from > 1)
        path[from++] = '/';
    memcpy(path + from, name, len);
    path[(size_t)from + len] = '\0';
    return true;
}

bool path_of(pid_t task, int dir, uint64_t address, char *path) {
    char name[PATH_MAX];
    if (!address || !task_string(task, address, name, sizeof name) || name[0] == '\0')
        return false; /* an empty one means the descriptor itself */
    return path_from(task, dir, name, strlen(name), path);
}
