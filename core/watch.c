/* Limits for the tree as a whole, where no cgroup holds them: measured from outside, a few times a
 * second, through the guest's own /proc. Cheap sums first; exact ones only when those come close.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { SLOW_MS = 50, FAST_MS = 10, MAX_SEEN_FILES = 4096 };

static struct watch_fds views = {-1, -1, -1};
static struct {
    int fd;
    dev_t device;
    uint64_t used_before;
} disks[MAX_WATCHED];
static size_t disk_count;
static uint64_t shared_before, peak_bytes, cpu_us;
static long page_size, ticks_per_s;

static uint64_t shared_memory_of_host(void) {
    struct sysinfo info;
    return sysinfo(&info) < 0 ? 0 : (uint64_t)info.sharedram * info.mem_unit;
}

static uint64_t used_bytes(int fd) {
    struct statfs fs;
    if (fd < 0 || fstatfs(fd, &fs) < 0)
        return 0;
    return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

void watch_start(const struct plan *plan) {
    page_size = sysconf(_SC_PAGESIZE);
    ticks_per_s = sysconf(_SC_CLK_TCK);
    shared_before = shared_memory_of_host();
    for (size_t i = 0; i < plan->watched_count; i++) {
        struct stat st;
        int fd = open(plan->watched[i], O_PATH | O_CLOEXEC);
        bool known = fd < 0 || fstat(fd, &st) < 0;
        for (size_t d = 0; !known && d < disk_count; d++)
            known = disks[d].device == st.st_dev;
        if (known) {
            if (fd >= 0)
                close(fd);
            continue;
        }
        disks[disk_count].fd = fd;
        disks[disk_count].device = st.st_dev;
        disks[disk_count++].used_before = used_bytes(fd);
    }
}

void watch_attach(const struct watch_fds *fds) { views = *fds; }

static ssize_t read_at(int dir, const char *pid, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", pid, name);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

struct sums {
    uint64_t resident, anonymous, shared; /* bytes */
    uint64_t cpu_us;
    uint64_t processes;
};

static void add_resident(const char *pid, struct sums *sums) {
    char text[128];
    unsigned long size, resident;
    if (read_at(views.proc, pid, "statm", text, sizeof text) > 0 &&
        sscanf(text, "%lu %lu", &size, &resident) == 2)
        sums->resident += (uint64_t)resident * (uint64_t)page_size;
}

/* utime, stime, cutime, cstime; the name before them may hold anything, so start after the last ). */
static void add_cpu(const char *pid, struct sums *sums) {
    char text[1024];
    unsigned long long user, system;
    long long children_user, children_system;
    if (read_at(views.proc, pid, "stat", text, sizeof text) <= 0)
        return;
    const char *at = strrchr(text, ')');
    if (at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld",
                     &user, &system, &children_user, &children_system) == 4)
        sums->cpu_us += (user + system + (unsigned long long)children_user +
                         (unsigned long long)children_system) *
                        1000000ULL / (unsigned long long)ticks_per_s;
}

static uint64_t kilobytes_after(const char *text, const char *label) {
    const char *at = strstr(text, label);
    return at ? strtoull(at + strlen(label), NULL, 10) * 1024 : 0;
}

static void add_proportional(const char *pid, struct sums *sums) {
    char text[2048];
    if (read_at(views.proc, pid, "smaps_rollup", text, sizeof text) <= 0)
        return;
    sums->anonymous += kilobytes_after(text, "\nPss_Anon:");
    sums->shared += kilobytes_after(text, "\nPss_Shmem:");
}

/* Memory files that are open but not mapped show in no process's sizes. */
static struct {
    ino_t inode;
    dev_t device;
} seen_files[MAX_SEEN_FILES];
static size_t seen_count;

static bool seen_before(const struct stat *st) {
    for (size_t i = 0; i < seen_count; i++)
        if (seen_files[i].inode == st->st_ino && seen_files[i].device == st->st_dev)
            return true;
    if (seen_count < MAX_SEEN_FILES) {
        seen_files[seen_count].inode = st->st_ino;
        seen_files[seen_count++].device = st->st_dev;
    }
    return false;
}

typedef void visit(const char *name, void *context);

/* Every entry of a directory whose name is a number. */
static void each_number(int dir, visit *each, void *context) {
    struct entry {
        uint64_t inode, offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    union {
        char bytes[8192];
        struct entry align;
    } room;
    lseek(dir, 0, SEEK_SET);
    for (;;) {
        long got = syscall(SYS_getdents64, dir, room.bytes, sizeof room.bytes);
        if (got <= 0)
            return;
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(room.bytes + at);
            if (entry->name[0] >= '0' && entry->name[0] <= '9')
                each(entry->name, context);
            at += entry->length;
        }
    }
}

struct open_files {
    int dir;
    uint64_t bytes;
};

static void add_memory_file(const char *name, void *context) {
    struct open_files *files = context;
    struct stat st;
    char target[16];
    ssize_t n = readlinkat(files->dir, name, target, sizeof target);
    if (n >= 7 && memcmp(target, "/memfd:", 7) == 0 && fstatat(files->dir, name, &st, 0) == 0 &&
        !seen_before(&st))
        files->bytes += (uint64_t)st.st_blocks * 512;
}

static void add_memory_files(const char *pid, void *context) {
    char path[32];
    snprintf(path, sizeof path, "%s/fd", pid);
    struct open_files files = {openat(views.proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0};
    if (files.dir < 0)
        return;
    each_number(files.dir, add_memory_file, &files);
    close(files.dir);
    *(uint64_t *)context += files.bytes;
}

/* Segments of System V shared memory: bytes in memory are the second column from the end. */
static uint64_t segments_bytes(void) {
    char text[16384];
    ssize_t n = views.sysvipc < 0 ? -1 : pread(views.sysvipc, text, sizeof text - 1, 0);
    uint64_t sum = 0;
    if (n <= 0)
        return 0;
    text[n] = '\0';
    for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        unsigned long long rss;
        if (sscanf(line + 1, "%*d %*d %*o %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu",
                   &rss) == 1)
            sum += rss;
    }
    return sum;
}

static void add_cheap(const char *pid, void *context) {
    struct sums *sums = context;
    sums->processes++;
    add_resident(pid, sums);
    add_cpu(pid, sums);
}

static void add_exact(const char *pid, void *context) { add_proportional(pid, context); }

static uint64_t exact_bytes(void) {
    struct sums sums = {0};
    uint64_t files = 0;
    seen_count = 0;
    each_number(views.proc, add_exact, &sums);
    each_number(views.proc, add_memory_files, &files);
    uint64_t known_shared = used_bytes(views.root) + segments_bytes() + files;
    return sums.anonymous + (known_shared > sums.shared ? known_shared : sums.shared);
}

static bool memory_exceeded(const struct plan *plan, const struct sums *sums, int *next_ms) {
    if (!plan->memory_bytes)
        return false;
    uint64_t shared_now = shared_memory_of_host();
    uint64_t grown = shared_now > shared_before ? shared_now - shared_before : 0;
    uint64_t bound = sums->resident + grown;
    if (bound > plan->memory_bytes / 2)
        *next_ms = FAST_MS;
    if (bound <= plan->memory_bytes) {
        if (sums->resident > peak_bytes)
            peak_bytes = sums->resident;
        return false;
    }
    uint64_t exact = exact_bytes();
    if (exact > peak_bytes)
        peak_bytes = exact;
    return exact > plan->memory_bytes;
}

static bool disk_exceeded(const struct plan *plan) {
    for (size_t i = 0; plan->disk_bytes && i < disk_count; i++) {
        uint64_t now = used_bytes(disks[i].fd);
        if (now > disks[i].used_before && now - disks[i].used_before > plan->disk_bytes)
            return true;
    }
    return false;
}

enum limit watch_tick(const struct plan *plan, int *next_ms) {
    struct sums sums = {0};
    *next_ms = SLOW_MS;
    if (!WALL_IS_UP(plan, WALL_WATCH))
        return LIMIT_NONE;
    if (disk_exceeded(plan))
        return LIMIT_DISK;
    if (views.proc < 0)
        return LIMIT_NONE;
    each_number(views.proc, add_cheap, &sums);
    if (sums.cpu_us > cpu_us)
        cpu_us = sums.cpu_us;
    if (plan->cpu_ms && cpu_us > plan->cpu_ms * 1000)
        return LIMIT_CPU;
    return memory_exceeded(plan, &sums, next_ms) ? LIMIT_MEMORY : LIMIT_NONE;
}

uint64_t watch_peak_bytes(void) { return peak_bytes; }

uint64_t watch_cpu_us(void) { return cpu_us; }
