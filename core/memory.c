/* How much memory a whole run really takes: slow and exact, asked only when a quick look says that
 * the limit may be passed.
 *
 * Seen directly: private pages and page tables of every process, its private files, memory files
 * that are open, System V objects, pipes. Not seen by any count: what lies in socket buffers, and memory
 * files on their way through a socket. Those are taken as the smaller of two things: what the
 * guest's sockets could hold, and what the host has lost since the start that nothing seen explains.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEEN_SLOTS = 8192,
    SOCKET_BYTES = 1 << 20, /* both buffers of a socket, with the kernel's own overhead */
    LOOK_US = 50000,
    SEMAPHORE_BYTES = 64,
    MESSAGE_QUEUE_BYTES = 512,
};

struct tally {
    const struct watch_fds *views;
    const char *pid;
    int tasks;
    int files; /* the directory being read */
    int64_t until_us;
    uint64_t anonymous, mapped_shared, tables, memory_files, buffers, could_hide;
};

/* Files already counted: several processes may hold the same one. When the table is full, one more
 * is counted again rather than not at all. */
static uint64_t seen_files[SEEN_SLOTS];
static size_t seen_count;

static bool seen_before(const struct stat *st) {
    uint64_t key = ((uint64_t)st->st_dev << 48 ^ (uint64_t)st->st_ino) | 1ULL << 63;
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15ULL >> 32) % SEEN_SLOTS;
    while (seen_files[slot] && seen_files[slot] != key)
        slot = (slot + 1) % SEEN_SLOTS;
    if (seen_files[slot] == key)
        return true;
    if (seen_count < SEEN_SLOTS / 4 * 3) {
        seen_files[slot] = key;
        seen_count++;
    }
    return false;
}

uint64_t kilobytes_after(const char *text, const char *label) {
    const char *at = strstr(text, label);
    uint64_t kilobytes;
    return at && next_number(at + strlen(label), &kilobytes) ? kilobytes * 1024 : 0;
}

/* How many descriptors wait in a unix socket to be received. */
static uint64_t descriptors_in_flight(const struct tally *t, const char *name) {
    char path[64], info[256];
    uint64_t passed = 0;
    snprintf(path, sizeof path, "../fdinfo/%s", name);
    int fd = openat(t->files, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, info, sizeof info - 1);
    if (fd >= 0)
        close(fd);
    info[got > 0 ? got : 0] = '\0';
    const char *at = strstr(info, "scm_fds:");
    if (at)
        next_number(at + 8, &passed);
    return passed;
}

/* A pipe can be opened again through its link, and asked. */
static uint64_t bytes_in_pipe(const struct tally *t, const char *name) {
    int waiting = 0;
    int fd = openat(t->files, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ioctl(fd, FIONREAD, &waiting);
    close(fd);
    return (uint64_t)waiting;
}

static void add_file(const char *name, void *context) {
    struct tally *t = context;
    if (now_us() > t->until_us)
        return;
    struct stat st;
    char target[16];
    ssize_t n = readlinkat(t->files, name, target, sizeof target);
    bool memory = n >= 7 && memcmp(target, "/memfd:", 7) == 0;
    bool socket = n >= 7 && memcmp(target, "socket:", 7) == 0;
    bool pipe = n >= 5 && memcmp(target, "pipe:", 5) == 0;
    if ((!memory && !socket && !pipe) || fstatat(t->files, name, &st, 0) < 0 || seen_before(&st))
        return;
    if (memory)
        t->memory_files += (uint64_t)st.st_blocks * 512;
    else if (pipe)
        t->buffers += bytes_in_pipe(t, name);
    else /* a descriptor in flight can be a memory file of any size */
        t->could_hide += descriptors_in_flight(t, name) ? UINT64_MAX / (1 << 20) : SOCKET_BYTES;
}

static void add_files_of(int dir, const char *entry, struct tally *t) {
    char path[64];
    snprintf(path, sizeof path, "%s/fd", entry);
    t->files = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->files < 0)
        return;
    each_number(t->files, add_file, t);
    close(t->files);
}

/* One living thread tells the sizes of all; each may have a table of files of its own. */
static void add_task(const char *tid, void *context) {
    struct tally *t = context;
    if (now_us() > t->until_us)
        return;
    char text[2048];
    if (t->pid && read_below(t->tasks, tid, "smaps_rollup", text, sizeof text) > 0) {
        t->anonymous += kilobytes_after(text, "\nPss_Anon:");
        t->mapped_shared += kilobytes_after(text, "\nPss_Shmem:");
        if (read_below(t->tasks, tid, "status", text, sizeof text) > 0)
            t->tables += kilobytes_after(text, "\nVmPTE:");
        t->pid = NULL; /* told */
    }
    add_files_of(t->tasks, tid, t);
}

static void add_process(const char *pid, void *context) {
    struct tally *t = context;
    char path[64];
    snprintf(path, sizeof path, "%s/task", pid);
    t->tasks = openat(t->views->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->tasks < 0)
        return;
    t->pid = pid;
    each_number(t->tasks, add_task, t);
    close(t->tasks);
}

/* Adds up one column (times `scale`, plus `each` per line) of a table in /proc/sysvipc. */
static uint64_t add_column(int fd, int column, uint64_t scale, uint64_t each) {
    char text[4096];
    size_t kept = 0;
    uint64_t sum = 0;
    bool heading = true;
    for (off_t at = 0; fd >= 0;) {
        ssize_t n = pread(fd, text + kept, sizeof text - 1 - kept, at);
        if (n <= 0)
            break;
        at += n;
        kept += (size_t)n;
        text[kept] = '\0';
        char *line = text, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            uint64_t value = 0;
            const char *p = line;
            for (int c = 0; p && c < column; c++)
                p = next_number(p, &value);
            if (!heading && p)
                sum += value * scale + each;
            heading = false;
        }
        kept -= (size_t)(line - text);
        for (size_t i = 0; i < kept; i++)
            text[i] = line[i];
    }
    return sum;
}

static uint64_t system_v_bytes(const struct watch_fds *views) {
    return add_column(views->sysvipc[0], 15, 1, 0) +
           add_column(views->sysvipc[1], 4, SEMAPHORE_BYTES, 0) +
           add_column(views->sysvipc[2], 4, 1, MESSAGE_QUEUE_BYTES);
}

bool exact_memory(const struct watch_fds *views, uint64_t private_files, uint64_t lost,
                  uint64_t *bytes) {
    struct tally t = {.views = views, .until_us = now_us() + LOOK_US};
    if (seen_count)
        memset(seen_files, 0, sizeof seen_files);
    seen_count = 0;
    each_number(views->proc, add_process, &t);
    uint64_t objects = private_files + t.memory_files + system_v_bytes(views);
    /* A mapped page of an object shows in both counts. How many do, nobody says. */
    uint64_t shared = objects > t.mapped_shared ? objects : t.mapped_shared;
    uint64_t seen = t.anonymous + t.tables + t.buffers + shared;
    uint64_t could_hide = t.could_hide + (objects < t.mapped_shared ? objects : t.mapped_shared);
    uint64_t unexplained = lost > seen ? lost - seen : 0;
    *bytes = seen + (unexplained < could_hide ? unexplained : could_hide);
    return now_us() <= t.until_us;
}
