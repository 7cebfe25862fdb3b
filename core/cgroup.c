/* A control group for the run, where the caller may make one: then the kernel's own count decides about
 * memory and CPU time, dead and unwaited-for processes included.
 *
 * Version 2: a directory beside the caller's own group (or in the root group, or in the place that the
 * plan names), made before the clone, into which the reaper is born. Moving a process later would cost
 * a grace period of the kernel's, 10 ms. Version 1: directories below the caller's own groups, made
 * while the walls go up; the guest-to-be moves itself, which costs no such wait: cgroup_procs_write.
 *
 * No process but the run's is ever moved. A directory that outlived its supervisor is removed by the
 * next run: the owner holds a lock on it as long as it lives.
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "cgroup.h"
#include "channel.h"
#include "directory.h"
#include "fail.h"
#include "monotonic.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define PREFIX "wardian-"
enum { STALE_S = 10 };

/* One directory that we made, and its path. */
struct control_group {
    int parent, dir;
    char name[48];
};

static int version; /* 0: none */
static struct control_group memory_group = {-1, -1, ""}, time_group = {-1, -1, ""}; /* version 2 uses only the first */

/* The kernel's counters. Each is opened when it is first read; a short run reads few. */
struct count {
    int dir;
    const char *name; /* NULL: there is none */
    int fd;
};
#define NO_COUNT {-1, NULL, -1}
static struct count usage = NO_COUNT, events = NO_COUNT, time_used = NO_COUNT, statistics = NO_COUNT, failures = NO_COUNT,
                    network = NO_COUNT;
static uint64_t mapped_files;
static uint64_t caller_max = UINT64_MAX;

int cgroup_version(void) { return version; }

static bool is_there(struct count *count) {
    if (count->fd < 0 && count->name)
        count->fd = openat(count->dir, count->name, O_RDONLY | O_CLOEXEC);
    return count->fd >= 0;
}

static int read_count(struct count *count, char *text, size_t size) {
    ssize_t n = is_there(count) ? pread(count->fd, text, size - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return (int)n;
}

static bool write_name(int dir, const char *name, const char *text) {
    int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

static bool write_number(int dir, const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return write_name(dir, name, text);
}

static bool starts_with(const char *text, const char *start) {
    size_t len = strlen(start);
    return strnlen(text, len) == len && memcmp(text, start, len) == 0;
}

/* Is this word in a list that blanks or commas separate? */
static bool lists(const char *list, size_t len, const char *word) {
    size_t wanted = strlen(word);
    for (size_t at = 0; at < len;) {
        size_t end = at;
        while (end < len && list[end] != ' ' && list[end] != ',' && list[end] != '\n')
            end++;
        if (end - at == wanted && memcmp(list + at, word, wanted) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* The caller's own group of a controller (NULL: of version 2), as a path below ROOT. Lines are
 * "number:controllers:path"; a version 1 hierarchy is mounted under the names of its controllers. */
static bool own_group(const char *controller, char path[PATH_MAX]) {
    static char text[8192];
    if (!text[0] && read_below(AT_FDCWD, "/proc/self", "cgroup", text, sizeof text) <= 0)
        return false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *names = line + strcspn(line, ":\n");
        if (*names++ != ':')
            continue;
        size_t len = strcspn(names, ":\n");
        const char *place = names + len;
        if (*place != ':' || place[1] != '/' || (controller ? !lists(names, len, controller) : len != 0))
            continue;
        size_t place_len = strcspn(place + 1, "\n");
        if (sizeof ROOT + len + place_len + 2 > PATH_MAX)
            return false;
        snprintf(path, PATH_MAX, ROOT "/");
        size_t at = strlen(path);
        memcpy(path + at, names, len);
        memcpy(path + at + len, place + 1, place_len);
        path[at + len + place_len] = '\0';
        return true;
    }
    return false;
}

static void forget(struct control_group *group) {
    if (group->dir >= 0) {
        unlinkat(group->parent, group->name, AT_REMOVEDIR);
        close(group->dir);
    }
    if (group->parent >= 0)
        close(group->parent);
    *group = (struct control_group){-1, -1, ""};
}

/* Makes a directory that this process owns; the lock on it ends with the process. */
static bool make(struct control_group *group, const char *parent) {
    group->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(group->name, sizeof group->name, PREFIX "%d-%llu", (int)syscall(SYS_getpid),
             (unsigned long long)now_us());
    if (group->parent < 0 || mkdirat(group->parent, group->name, 0755) < 0) {
        forget(group);
        return false;
    }
    group->dir = openat(group->parent, group->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->dir >= 0 && syscall(SYS_flock, group->dir, LOCK_EX | LOCK_NB) == 0)
        return true;
    unlinkat(group->parent, group->name, AT_REMOVEDIR); /* forget() does so where it is open */
    forget(group);
    return false;
}

/* Removes a group whose supervisor was killed: nobody holds its lock, nothing runs in it. */
static void sweep(const char *name, void *context) {
    int parent = *(const int *)context;
    struct stat st;
    struct timespec now;
    if (!starts_with(name, PREFIX))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return;
    if (fstat(dir, &st) == 0 && now.tv_sec - st.st_ctim.tv_sec > STALE_S &&
        syscall(SYS_flock, dir, LOCK_EX | LOCK_NB) == 0)
        unlinkat(parent, name, AT_REMOVEDIR);
    close(dir);
}

static void sweep_beside(const struct control_group *group) {
    int parent = group->parent;
    if (parent >= 0)
        each_entry(parent, sweep, &parent);
}

/* Version 2 */

/* A group with processes can't have children with controllers, except the root group. So the place is
 * beside our own: its parent gives controllers to its children, and has no processes. */
static bool place_of_version_2(const struct plan *plan, char path[PATH_MAX]) {
    char list[512];
    if (plan->cgroup) {
        snprintf(path, PATH_MAX, "%s", plan->cgroup);
    } else {
        if (!own_group(NULL, path))
            return false;
        int own = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (own >= 0 && read_below(own, ".", "memory.max", list, sizeof list) > 0)
            next_number(list, &caller_max); /* "max" leaves it as it is */
        if (own >= 0)
            close(own);
        char *slash = strrchr(path, '/');
        if (strcmp(path, ROOT "/") != 0 && slash)
            *slash = '\0';
        if (strcmp(path, ROOT) != 0 && !starts_with(path, ROOT "/"))
            return false;
    }
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t n = dir < 0 ? -1 : read_below(dir, ".", "cgroup.subtree_control", list, sizeof list);
    if (dir >= 0)
        close(dir);
    return n > 0 && lists(list, (size_t)n, "memory");
}

static bool limit_version_2(const struct plan *plan) {
    int dir = memory_group.dir;
    uint64_t most = plan->memory_bytes && plan->memory_bytes < caller_max ? plan->memory_bytes : caller_max;
    if (most != UINT64_MAX && !write_number(dir, "memory.max", most))
        return false;
    write_name(dir, "memory.swap.max", "0"); /* absent where the kernel knows no swap */
    write_name(dir, "memory.oom.group", "1");
    enum { OURS = 2 }; /* the reaper and the guest's first, as in plan.py */
    if (plan->process_limit)
        write_number(dir, "pids.max", plan->process_limit + OURS);
    usage = (struct count){dir, "memory.current", -1};
    events = (struct count){dir, "memory.events", -1};
    statistics = (struct count){dir, "memory.stat", -1};
    time_used = (struct count){dir, "cpu.stat", -1};
    return is_there(&usage) && is_there(&events) && is_there(&time_used);
}

static bool wanted(const struct plan *plan) {
    return plan->cgroups && WALL_IS_UP(plan, WALL_WATCH) && WALL_IS_UP(plan, WALL_CONTROL);
}

/* Before the clone. Version 1 is only looked for: it is made while others work. */
void cgroup_prepare(const struct plan *plan) {
    char path[PATH_MAX];
    if (!wanted(plan))
        return;
    if (syscall(SYS_faccessat, AT_FDCWD, ROOT "/cgroup.controllers", R_OK) < 0 && !plan->cgroup) {
        version = syscall(SYS_faccessat, AT_FDCWD, ROOT "/memory/cgroup.procs", W_OK) == 0 ? 1 : 0;
        return;
    }
    if (!place_of_version_2(plan, path) || !make(&memory_group, path))
        return;
    version = 2;
    if (!limit_version_2(plan))
        cgroup_remove();
}

int cgroup_birthplace(void) { return version == 2 ? memory_group.dir : -1; }

/* Where a process can't be born into it, it is moved: slower, and as good. */
void cgroup_move(pid_t child) {
    if (version == 2 && !write_number(memory_group.dir, "cgroup.procs", (uint64_t)child))
        cgroup_remove();
}

/* During set-up: the run is then limited by the supervisor's measurements alone, and its result says so.
 * Later: nothing depends on it. */
void cgroup_remove(void) {
    struct count *const counts[] = {&usage, &events, &time_used, &statistics, &failures, &network};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i]->fd >= 0)
            close(counts[i]->fd);
        *counts[i] = (struct count)NO_COUNT;
    }
    forget(&memory_group);
    forget(&time_group);
    version = 0;
}

/* Version 1 */

static bool make_version_1(const struct plan *plan) {
    char path[PATH_MAX];
    if (!own_group("memory", path) || !make(&memory_group, path))
        return false;
    int dir = memory_group.dir;
    if (plan->memory_bytes && !write_number(dir, "memory.limit_in_bytes", plan->memory_bytes))
        return false;
    if (plan->memory_bytes) /* absent where swap is not counted */
        write_number(dir, "memory.memsw.limit_in_bytes", plan->memory_bytes);
    if (plan->memory_bytes) /* without it the kernel does not count buffers of TCP and UDP sockets at all */
        write_number(dir, "memory.kmem.tcp.limit_in_bytes", plan->memory_bytes);
    if (own_group("cpuacct", path))
        make(&time_group, path);
    return true;
}

/* Counters that are read later: the guest does not wait for them. */
static bool open_version_1(const struct plan *plan) {
    int dir = memory_group.dir;
    usage = (struct count){dir, "memory.usage_in_bytes", -1};
    events = (struct count){dir, "memory.oom_control", -1};
    statistics = (struct count){dir, "memory.stat", -1};
    failures = (struct count){dir, "memory.failcnt", -1};
    if (plan->memory_bytes)
        network = (struct count){dir, "memory.kmem.tcp.usage_in_bytes", -1};
    if (time_group.dir >= 0)
        time_used = (struct count){time_group.dir, "cpuacct.usage", -1};
    return is_there(&events);
}

/* In the supervisor, after the clone. The guest waits for this message before its program starts. */
void cgroup_make(const struct plan *plan, int ctl) {
    int doors[2];
    size_t count = 0;
    if (version != 1)
        return;
    if (make_version_1(plan)) {
        const struct control_group *const groups[] = {&memory_group, &time_group};
        for (size_t i = 0; i < 2; i++)
            if (groups[i]->dir >= 0 &&
                (doors[count] = openat(groups[i]->dir, "tasks", O_WRONLY | O_CLOEXEC)) >= 0)
                count++;
    }
    if (count == 0)
        cgroup_remove();
    struct message go = {.kind = MSG_GO};
    channel_send(ctl, &go, doors, count);
    while (count > 0)
        close(doors[--count]);
    if (version && !open_version_1(plan))
        cgroup_remove();
}

static void join_version_1(int ctl) {
    struct message go;
    int doors[MAX_PASSED];
    size_t count;
    pid_t sender;
    if (!channel_receive(ctl, &go, doors, &count, &sender) || go.kind != MSG_GO)
        _exit(125);
    for (size_t i = 0; i < count; i++) {
        if (write(doors[i], "0", 1) < 0)
            die(errno, "limits.cgroup", "joining the control group of the run");
        close(doors[i]);
    }
}

/* In the guest-to-be: joins the version 1 groups. The supervisor opened the files, so the supervisor's right
 * to move us counts. The cgroup namespace from the clone has the caller's groups as its root, in both
 * versions; a new one, made here, hides the group's name. */
void cgroup_enter(const struct plan *plan, int ctl) {
    if (version == 1)
        join_version_1(ctl);
    if (version && !plan->bare.wanted && WALL_IS_UP(plan, WALL_CGROUP) && syscall(SYS_unshare, CLONE_NEWCGROUP) < 0)
        die(errno, "namespaces", "making the run's control group its root");
}

/* Once, while the guest works: nothing waits for this, and a short run does without. */
void cgroup_sweep(void) {
    static bool swept;
    if (swept || !version)
        return;
    swept = true;
    sweep_beside(&memory_group);
    sweep_beside(&time_group);
}

/* Reading the counters */

bool cgroup_cpu_us(uint64_t *us) {
    char text[512];
    if (read_count(&time_used, text, sizeof text) <= 0)
        return false;
    if (version == 2)
        *us = number_after(text, "usage_usec ", false);
    else if (!next_number(text, us))
        return false;
    else
        *us /= 1000;
    return true;
}

/* Has the kernel killed one of the run's processes for memory? */
static uint64_t forgiven; /* a living sandbox goes on after one */
uint64_t cgroup_kills(void) {
    char text[512];
    return read_count(&events, text, sizeof text) > 0 ? number_after(text, "oom_kill ", false) : 0;
}

void cgroup_forgive(void) { forgiven = cgroup_kills(); }

bool cgroup_out_of_memory(void) { return cgroup_kills() > forgiven; }

/* How often the run has reached the limit, whether or not the kernel could reclaim memory then. */
static uint64_t times_met(void) {
    char text[512];
    uint64_t times = 0;
    if (read_count(version == 2 ? &events : &failures, text, sizeof text) <= 0)
        return 0;
    if (version == 2)
        return number_after(text, "\nmax ", false);
    next_number(text, &times);
    return times;
}

/* The kernel does not count every kill for memory; the limit was reached, at least. */
bool cgroup_met_limit(void) { return version && times_met() > 0; }

/* Full except for the programs' own pages, which are dropped and read again and again: a guest in that state
 * makes no progress and does not end for a long time. */
bool cgroup_thrashes(uint64_t limit, uint64_t bytes) {
    static uint64_t met_before;
    static int rounds;
    enum { ROUNDS = 3, NEAR = 32 };
    uint64_t met = times_met();
    bool full = met > met_before && bytes + mapped_files >= limit - limit / NEAR;
    met_before = met;
    rounds = full ? rounds + 1 : 0;
    return rounds >= ROUNDS;
}

/* Memory that can't be reclaimed: without the page cache, which the kernel drops when it needs memory. */
bool cgroup_memory(uint64_t *bytes) {
    char text[8192];
    if (read_count(&usage, text, sizeof text) <= 0 || !next_number(text, bytes))
        return false;
    if (read_count(&statistics, text, sizeof text) <= 0)
        return true;
    bool two = version == 2;
    uint64_t cache = number_after(text, two ? "\nfile " : "\ntotal_cache ", false);
    uint64_t shmem = number_after(text, two ? "\nshmem " : "\ntotal_shmem ", false);
    uint64_t files = cache > shmem ? cache - shmem : 0;
    mapped_files = number_after(text, two ? "\nfile_mapped " : "\ntotal_mapped_file ", false);
    mapped_files = mapped_files > shmem ? mapped_files - shmem : 0; /* shared memory counts there, too */
    *bytes = *bytes > files ? *bytes - files : 0;
    return true;
}

/* Buffers of TCP and UDP sockets that the count above lacks: what version 1 counts apart, or by how much
 * `listed`, the sum of all sockets, exceeds it. Connections that nobody has accepted are charged to no group,
 * in either version. */
uint64_t cgroup_network(uint64_t listed) {
    char text[8192];
    uint64_t charged = 0;
    if (version == 2 && read_count(&statistics, text, sizeof text) > 0)
        return listed - (listed < (charged = number_after(text, "\nsock ", false)) ? listed : charged);
    if (read_count(&network, text, sizeof text) > 0)
        next_number(text, &charged);
    return listed > charged ? listed : charged;
}

/* Kills every process in the group at once; these are the processes of the pid namespace, and no others. */
void cgroup_kill(void) {
    if (version == 2)
        write_name(memory_group.dir, "cgroup.kill", "1");
}
