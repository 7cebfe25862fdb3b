/* By how much the writable shares have grown. The quick check compares the free space of the file system,
 * which other processes change too; before a run is ended, the growth must be the guest's. */
#define _GNU_SOURCE
#include "fortify.h"
#include "disk.h"
#include "directory.h"
#include "monotonic.h"
#include "numbers.h"
#include "plan.h"
#include "process_tree.h"
#include "quotas.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WALK_US = 30000, LONG_WALK_US = 400000, WALK_EVERY_US = 10000, IDLE_US = 2000000, MAX_DEPTH = 24, MAX_REMOVED = 256 };

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

static void forgive(uint64_t ours);

bool disk_anew(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    started_s = now.tv_sec;
    forgive(0);
    return true;
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
    each_process(proc, add_written, written);
    return written[0] + quotas_disk_spent();
}

struct walk {
    int dir, depth;
    int64_t until_us;
    bool all;       /* also files that were there before, as a whole */
    uint64_t bytes, entries, most; /* entries; the walk stops at this count */
    uint64_t removed[MAX_REMOVED]; /* inodes that were counted: several processes may have one open */
    size_t removed_count;
};

/* Was the file created since the start? For older files it is unknown how much is new. */
static bool made_since(int dir, const char *name) {
    struct statx about = {0};
    if (syscall(SYS_statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &about) < 0 || !(about.stx_mask & STATX_BTIME))
        return true;
    return about.stx_btime.tv_sec >= started_s;
}

/* Files below a directory that changed since the start. Follows no link, and stops at the deadline. */
static void add_changed(const char *name, void *context) {
    struct walk *w = context;
    struct stat st;
    if (w->entries > w->most || now_us() >= w->until_us || fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    bool changed = st.st_ctim.tv_sec >= started_s;
    w->entries += changed;
    if (S_ISDIR(st.st_mode) && changed) /* a directory can grow by its names alone, whoever created it */
        w->bytes += (uint64_t)st.st_blocks * 512;
    else if (changed && (w->all || made_since(w->dir, name)))
        w->bytes += (uint64_t)st.st_blocks * 512 / (st.st_nlink ? st.st_nlink : 1);
    if (!S_ISDIR(st.st_mode) || w->depth == MAX_DEPTH)
        return;
    int above = w->dir;
    w->dir = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (w->dir >= 0) {
        w->depth++;
        each_entry(w->dir, add_changed, w);
        w->depth--;
        close(w->dir);
    }
    w->dir = above;
}

/* Deleted files that a process still has open. */
static void add_removed(const char *name, void *context) {
    struct walk *w = context;
    struct stat st;
    if (now_us() >= w->until_us || fstatat(w->dir, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_nlink)
        return;
    for (size_t i = 0; i < w->removed_count; i++)
        if (w->removed[i] == (uint64_t)st.st_ino)
            return;
    for (size_t i = 0; i < disk_count; i++)
        if (disks[i].device == st.st_dev)
            w->bytes += (uint64_t)st.st_blocks * 512;
    if (w->removed_count < MAX_REMOVED)
        w->removed[w->removed_count++] = (uint64_t)st.st_ino;
}

static void add_removed_of(const char *pid, void *context) {
    struct walk *w = context;
    char path[32];
    int proc = w->dir;
    snprintf(path, sizeof path, "%s/fd", pid);
    w->dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->dir >= 0) {
        each_number(w->dir, add_removed, w);
        close(w->dir);
    }
    w->dir = proc;
}

/* Size of the files in the shares that changed since the start: an upper bound of what the guest wrote, ended
 * processes included. */
static struct walk grown_by_walking(int proc, bool all, int64_t budget_us, uint64_t most) {
    struct walk w = {.until_us = now_us() + budget_us, .all = all, .most = most};
    for (size_t i = 0; i < place_count; i++) {
        w.dir = openat(places[i], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (w.dir < 0)
            continue;
        struct stat st;
        if (fstat(w.dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_ctim.tv_sec >= started_s)
            w.bytes += (uint64_t)st.st_blocks * 512;
        each_entry(w.dir, add_changed, &w);
        close(w.dir);
    }
    w.dir = proc;
    if (proc >= 0)
        each_process(proc, add_removed_of, &w);
    return w;
}

/* Growth by other processes up to now needs no second walk. */
static void forgive(uint64_t ours) {
    for (size_t i = 0; i < disk_count; i++) {
        uint64_t now = used_bytes(disks[i].fd);
        disks[i].used_before = now > ours ? now - ours : 0;
        disks[i].files_before = used_files(disks[i].fd);
    }
}

/* The file system as a whole has grown by more than the guest may write, in bytes or in files. */
struct growth {
    bool bytes, files;
};

static struct growth grown_as_a_whole(const struct plan *plan, uint64_t most_files) {
    struct growth grown = {false, false};
    for (size_t i = 0; i < disk_count; i++) {
        uint64_t now = used_bytes(disks[i].fd), files = used_files(disks[i].fd);
        if (now < disks[i].used_before) /* another process freed some */
            disks[i].used_before = now;
        if (files < disks[i].files_before)
            disks[i].files_before = files;
        grown.bytes = grown.bytes || now - disks[i].used_before > plan->disk_bytes;
        grown.files = grown.files || files - disks[i].files_before > most_files;
    }
    return grown;
}

/* A walk is worth its time if the file system has grown or a process has written; and every so often in any
 * case, for a process that removes files hides how many were created. Only files found in the shares, or
 * written by the guest, end the run. */
bool disk_exceeded(const struct plan *plan, int proc, bool unclaimed, bool over) {
    if (!plan->disk_bytes || !disk_count)
        return false;
    static uint64_t written;
    static int64_t next_us, idle_us;
    static bool cut; /* the last walk did not get to its end */
    uint64_t most_files = plan->bare.wanted ? plan->bare.inodes : plan->root_inodes;
    most_files = most_files ? most_files : UINT64_MAX; /* none was named */
    if (proc >= 0 && !over)
        written = written_bytes(proc);
    bool wrote = unclaimed || written > plan->disk_bytes / 2;
    struct growth grown = grown_as_a_whole(plan, most_files);
    int64_t before = now_us();
    idle_us = idle_us ? idle_us : before + IDLE_US;
    bool worth = grown.bytes || grown.files || unclaimed || written > plan->disk_bytes || before >= idle_us;
    if (!worth || (!over && before < next_us))
        return false;
    bool longer = grown.files && cut; /* empty files: only the walk can attribute them */
    struct walk w = grown_by_walking(proc, wrote, longer ? LONG_WALK_US : WALK_US, most_files);
    int64_t after = now_us();
    cut = after >= w.until_us;
    next_us = after + (after - before) * 10 + (grown.bytes || grown.files ? WALK_EVERY_US : 10 * WALK_EVERY_US); /* a tenth of the time at most */
    idle_us = after + IDLE_US;
    if (w.bytes > plan->disk_bytes || w.entries > most_files || (cut && grown.bytes && wrote))
        return true;
    if (cut && longer && w.entries > most_files / 8)
        return true; /* a great many are new, and the walk did not finish */
    if (!cut && (grown.bytes || grown.files))
        forgive(w.bytes);
    return false;
}
