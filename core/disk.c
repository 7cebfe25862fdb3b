/* How much shared places have grown. The quick look is at the file system as a whole, which others
 * fill and empty too; before a run is ended for it, the guest must have had a hand in it. */
#define _GNU_SOURCE
#include "launch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

enum { WALK_US = 30000, WALK_EVERY_US = 500000, MAX_DEPTH = 24 };

static struct {
    int fd;
    dev_t device;
    uint64_t used_before, files_before;
} disks[MAX_WATCHED];
static size_t disk_count;
static int places[MAX_WATCHED]; /* every shared directory, for walking */
static size_t place_count;
static int64_t started_s;

uint64_t used_bytes(int fd) {
    struct statfs fs;
    if (fd < 0 || fstatfs(fd, &fs) < 0)
        return 0;
    return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

uint64_t used_files(int fd) {
    struct statfs fs;
    return fd < 0 || fstatfs(fd, &fs) < 0 ? 0 : (uint64_t)(fs.f_files - fs.f_ffree);
}

void disk_watch(const char *path) {
    struct stat st;
    struct timespec now;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    started_s = now.tv_sec;
    places[place_count++] = fd;
    for (size_t d = 0; d < disk_count; d++)
        if (disks[d].device == st.st_dev)
            return;
    disks[disk_count].fd = fd;
    disks[disk_count].device = st.st_dev;
    disks[disk_count].files_before = used_files(fd);
    disks[disk_count++].used_before = used_bytes(fd);
}

static void add_written(const char *pid, void *context) {
    char text[512];
    uint64_t bytes;
    uint64_t *written = context;
    int proc = (int)written[1];
    if (read_below(proc, pid, "io", text, sizeof text) <= 0)
        return;
    const char *at = strstr(text, "\nwrite_bytes:");
    if (at && next_number(at + 13, &bytes))
        written[0] += bytes;
}

/* What living processes, and those they waited for, have written to any disk. */
static uint64_t written_bytes(int proc) {
    uint64_t written[2] = {0, (uint64_t)proc};
    each_number(proc, add_written, written);
    return written[0] + refusals_budget_spent();
}

struct walk {
    int dir, depth;
    int64_t until_us;
    uint64_t bytes;
};

/* Files below a directory that changed since the start. Follows nothing, and stops when time is up. */
static void add_changed(const char *name, void *context) {
    struct walk *w = context;
    struct stat st;
    if (now_us() >= w->until_us || fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISREG(st.st_mode) && st.st_ctim.tv_sec >= started_s)
        w->bytes += (uint64_t)st.st_blocks * 512 / (st.st_nlink ? st.st_nlink : 1);
    if (!S_ISDIR(st.st_mode) || w->depth == MAX_DEPTH)
        return;
    struct walk below = *w;
    below.depth++;
    below.dir = openat(w->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below.dir < 0)
        return;
    each_entry(below.dir, add_changed, &below);
    close(below.dir);
    w->bytes = below.bytes;
}

/* Only asked of a guest that has written more than it may have, and not too often. */
static bool grown_by_walking(const struct plan *plan) {
    static int64_t walked_us;
    struct walk w = {.until_us = now_us() + WALK_US};
    if (now_us() - walked_us < WALK_EVERY_US)
        return false;
    walked_us = now_us();
    for (size_t i = 0; i < place_count; i++) {
        w.dir = openat(places[i], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (w.dir < 0)
            continue;
        each_entry(w.dir, add_changed, &w);
        close(w.dir);
    }
    return w.bytes > plan->disk_bytes;
}

bool disk_exceeded(const struct plan *plan, int proc, bool unclaimed, bool over) {
    if (!plan->disk_bytes || !disk_count)
        return false;
    uint64_t written = proc < 0 || over ? UINT64_MAX : written_bytes(proc);
    if (!over && proc >= 0 && written > plan->disk_bytes && grown_by_walking(plan))
        return true;
    for (size_t i = 0; i < disk_count; i++) {
        uint64_t now = used_bytes(disks[i].fd);
        uint64_t files = used_files(disks[i].fd);
        if (files > disks[i].files_before && files - disks[i].files_before > plan->root_inodes)
            return true;
        if (now <= disks[i].used_before || now - disks[i].used_before <= plan->disk_bytes)
            continue;
        /* Processes that vanish unwaited for may have written what nobody has seen. */
        if (unclaimed || written > plan->disk_bytes / 2)
            return true;
        disks[i].used_before = now; /* someone else's */
    }
    return false;
}
