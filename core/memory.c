/* How much memory a whole run really takes, where no control group counts it: slow and exact, asked
 * only now and then, or when a quick look says that the limit may be passed.
 *
 * Seen directly: private pages and page tables of every process, its private files, memory files
 * that are open, System V objects, pipes, sockets, locks, what epoll and inotify keep. Not seen: pages of a shared mapping
 * that nobody has mapped any more (MADV_DONTNEED, munmap of a part), memory files that are mapped but not
 * open, and those on their way through a socket. Only where the guest has such a thing at all, they are
 * taken to be what the host's shared memory has grown by since the start and nothing seen explains.
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "memory.h"
#include "directory.h"
#include "limits.h"
#include "monotonic.h"
#include "numbers.h"
#include "process_tree.h"
#include "sockets.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEEN_SLOTS = 8192,
    LOOK_US = 50000, LOOK_MOST_US = 100000,
    WATCH_BYTES = 256, /* an epoll watch */
    FILE_BYTES = 1024, /* an open file: what the kernel keeps for it */
    SOCKET_FILE_BYTES = 4096, /* a socket, whether or not a table of the network's lists it */
    NOTIFIED_BYTES = 1280,    /* a file that inotify watches: INOTIFY_WATCH_COST */
    EVENT_BYTES = 512,        /* an event that waits in a queue of inotify's, with a name */
    LEAST_EVENTS = 16384,     /* fs.inotify.max_queued_events, where it can't be read */
    LOCK_BYTES = 256, LOCK_LINE = 48, /* a lock on a file, and the least of its line in /proc/locks */
    SEMAPHORE_BYTES = 64,
    MESSAGE_QUEUE_BYTES = 512,
};

struct tally {
    const struct guest_views *views;
    const char *pid;
    int tasks;
    int files; /* the directory being read */
    int64_t until_us;
    uint64_t processes, looked; /* how many there are, and how many were in time */
    uint64_t anonymous, tables, memory_files, buffers, nameless;
    bool maps_shared;        /* the process being read has shared memory mapped */
    bool hides, hides_files; /* there is a shared mapping, or a memory file, that can't be measured */
};

/* Files already counted: several processes may hold the same one. When the table is full, one more
 * is counted again rather than not at all. */
static uint64_t seen_files[SEEN_SLOTS];
static size_t seen_count;

static bool seen_before(uint64_t inode, bool add) {
    uint64_t key = inode | 1ULL << 63;
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15ULL >> 32) % SEEN_SLOTS;
    while (seen_files[slot] && seen_files[slot] != key)
        slot = (slot + 1) % SEEN_SLOTS;
    if (seen_files[slot] == key)
        return true;
    if (add && seen_count < SEEN_SLOTS / 4 * 3) {
        seen_files[slot] = key;
        seen_count++;
    }
    return false;
}

/* Descriptors that wait in a unix socket to be received; files that an epoll watches. */
static uint64_t counted_in_info(const struct tally *t, const char *name, const char *label, bool lines) {
    char path[64], info[4096];
    uint64_t passed = 0;
    snprintf(path, sizeof path, "../fdinfo/%s", name);
    int fd = openat(t->files, path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && (got = read(fd, info, sizeof info - 1)) > 0;) {
        info[got] = '\0';
        const char *at = info;
        while ((at = strstr(at, label))) {
            at += strlen(label);
            if (lines)
                passed++;
            else
                next_number(at, &passed);
        }
    }
    if (fd >= 0)
        close(fd);
    return passed;
}

/* A pipe can be opened again through its link, and queried. One byte holds a page, so a pipe is taken to be
 * full. */
static uint64_t bytes_in_pipe(const struct tally *t, const char *name) {
    enum { PAGE = 4096 };
    int waiting = 0;
    int fd = openat(t->files, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ioctl(fd, FIONREAD, &waiting);
    int room = fcntl(fd, F_GETPIPE_SZ);
    close(fd);
    uint64_t most = (uint64_t)waiting * PAGE;
    return room > 0 && (uint64_t)room < most ? (uint64_t)room : most;
}

/* The kernel does not report how many events wait in an inotify queue: if it watches anything, it is taken to
 * be full. */
static uint64_t bytes_of_inotify(const struct tally *t, const char *name) {
    static uint64_t most;
    char text[32];
    if (!most) {
        int dir = open("/proc/sys/fs/inotify", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0 || read_below(dir, ".", "max_queued_events", text, sizeof text) <= 0 || !next_number(text, &most))
            most = LEAST_EVENTS;
        if (dir >= 0)
            close(dir);
    }
    uint64_t watched = counted_in_info(t, name, "inotify wd:", true);
    return watched ? watched * NOTIFIED_BYTES + most * EVENT_BYTES : 0;
}

/* Locks on files, counted by the lines of a table that lists only this run's. */
static uint64_t bytes_of_locks(const struct tally *t) {
    char text[4096];
    uint64_t length = 0;
    int fd = openat(t->views->proc, "locks", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && now_us() < t->until_us && (n = read(fd, text, sizeof text)) > 0;)
        length += (uint64_t)n;
    if (fd >= 0)
        close(fd);
    return length / LOCK_LINE * LOCK_BYTES;
}

static void add_file(const char *name, void *context) {
    struct tally *t = context;
    if (now_us() > t->until_us)
        return;
    struct stat st;
    char target[24];
    ssize_t n = readlinkat(t->files, name, target, sizeof target);
    bool notify = n >= 18 && memcmp(target, "anon_inode:inotify", 18) == 0;
    bool memory = n >= 7 && memcmp(target, "/memfd:", 7) == 0;
    bool socket = n >= 7 && memcmp(target, "socket:", 7) == 0;
    bool pipe = n >= 5 && memcmp(target, "pipe:", 5) == 0;
    bool poll = n >= 22 && memcmp(target, "anon_inode:[eventpoll]", 22) == 0;
    t->buffers += socket ? SOCKET_FILE_BYTES : FILE_BYTES;
    if (notify)
        t->buffers += bytes_of_inotify(t, name);
    if (poll)
        t->buffers += WATCH_BYTES * counted_in_info(t, name, "tfd:", true);
    if ((!memory && !socket && !pipe) || fstatat(t->files, name, &st, 0) < 0 || seen_before(st.st_ino, true))
        return;
    if (memory)
        t->memory_files += (uint64_t)st.st_blocks * 512;
    else if (pipe)
        t->buffers += bytes_in_pipe(t, name);
    else if (counted_in_info(t, name, "scm_fds:", false))
        t->hides = t->hides_files = true; /* a descriptor in flight can be a memory file of any size */
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

/* One live thread reports the sizes for all; each thread may have its own table of files. */
static void add_task(const char *tid, void *context) {
    struct tally *t = context;
    if (now_us() > t->until_us)
        return;
    char text[2048];
    if (t->pid && read_below(t->tasks, tid, "smaps_rollup", text, sizeof text) > 0) {
        t->anonymous += kilobytes_after(text, "\nPss_Anon:");
        t->looked++;
        if (read_below(t->tasks, tid, "status", text, sizeof text) > 0)
            t->tables += kilobytes_after(text, "\nVmPTE:");
        t->pid = NULL; /* counted */
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
    t->processes++;
    each_number(t->tasks, add_task, t);
    close(t->tasks);
}

/* One mapping of shared memory without a name in any filesystem: "… inode path", then its sizes. */
static void add_mapping(struct tally *t, const char *line) {
    const char *zero = strstr(line, " /dev/zero (deleted)"), *file = strstr(line, " /memfd:");
    if (!zero && !file) {
        t->maps_shared = t->maps_shared && *line >= 'A' && *line <= 'Z'; /* a size of the last one */
        return;
    }
    uint64_t inode = 0;
    const char *at = line;
    for (int field = 0; field < 4; field++) { /* range, rights, offset, device */
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    next_number(at, &inode);
    t->maps_shared = zero || !seen_before(inode, false); /* else it is open, and counted */
    t->hides = t->hides || t->maps_shared;
    t->hides_files = t->hides_files || (file && t->maps_shared);
}

/* After all open files are known: mapped shared memory that no open file represents. */
static void add_nameless(const char *pid, void *context) {
    struct tally *t = context;
    char text[4096];
    size_t kept = 0;
    if (now_us() > t->until_us || read_below(t->views->proc, pid, "status", text, sizeof text) <= 0 ||
        kilobytes_after(text, "\nVmSize:") == 0)
        return;
    char path[32];
    snprintf(path, sizeof path, "%s/smaps", pid);
    int fd = openat(t->views->proc, path, O_RDONLY | O_CLOEXEC);
    t->maps_shared = false;
    for (ssize_t n; fd >= 0 && now_us() < t->until_us && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0;) {
        kept += (size_t)n;
        text[kept] = '\0';
        char *line = text, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            add_mapping(t, line);
            if (t->maps_shared && memcmp(line, "Pss:", 4) == 0)
                t->nameless += kilobytes_after(line, "Pss:");
        }
        kept -= (size_t)(line - text);
        for (size_t i = 0; i < kept; i++)
            text[i] = line[i];
        if (kept == sizeof text - 1) /* a path of 4,096 bytes is no mapping that counts */
            kept = 0;
    }
    if (fd >= 0)
        close(fd);
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

static uint64_t system_v_bytes(const struct guest_views *views) {
    return add_column(views->sysvipc[0], 15, 1, 0) +
           add_column(views->sysvipc[1], 4, SEMAPHORE_BYTES, 0) +
           add_column(views->sysvipc[2], 4, 1, MESSAGE_QUEUE_BYTES);
}

/* Shared memory of the whole host; other processes change it, too. */
static uint64_t shared_on_host(void) {
    char text[2048];
    static int meminfo = -1;
    if (meminfo < 0)
        meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = meminfo < 0 ? -1 : pread(meminfo, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return kilobytes_after(text, "\nShmem:");
}

/* The minimum seen, so that memory freed by other processes hides little. */
static uint64_t least_shared;

void memory_start(void) { least_shared = shared_on_host(); }

static uint64_t hidden_bytes(const struct tally *t, uint64_t explained, uint64_t faults) {
    uint64_t now = shared_on_host();
    if (now < least_shared)
        least_shared = now;
    if (!t->hides || now - least_shared <= explained)
        return 0;
    uint64_t hidden = now - least_shared - explained;
    /* A shared mapping fills by page faults only, which bound its size. */
    return !t->hides_files && faults < hidden ? faults : hidden;
}

uint64_t exact_memory(const struct guest_views *views, uint64_t private_files, uint64_t faults) {
    static int64_t look_us = LOOK_US;
    struct tally t = {.views = views, .until_us = now_us() + look_us};
    if (seen_count)
        memset(seen_files, 0, sizeof seen_files);
    seen_count = 0;
    each_process(views->proc, add_process, &t);
    if (!tree_watched()) /* the host's table lists everybody's */
        t.buffers += bytes_of_locks(&t);
    uint64_t seen = t.anonymous + t.tables + t.buffers;
    if (now_us() > t.until_us) { /* the rest is estimated from what was seen, and gets more time */
        seen = t.looked ? seen / t.looked * t.processes : seen;
        look_us = look_us * 2 < LOOK_MOST_US ? look_us * 2 : LOOK_MOST_US;
        t.until_us = now_us() + LOOK_US;
    }
    uint64_t sockets = socket_bytes(views, true);
    each_process(views->proc, add_nameless, &t);
    uint64_t objects = private_files + t.memory_files + system_v_bytes(views) + t.nameless;
    return seen + sockets + objects + hidden_bytes(&t, objects, faults);
}
