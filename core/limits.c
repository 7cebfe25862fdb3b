/* Limits for the tree as a whole, where no cgroup holds them: measured from outside, a few times a
 * second, through the guest's own /proc. Cheap sums first; exact ones only when those come close.
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "limits.h"
#include "cgroup.h"
#include "cpu_clock.h"
#include "directory.h"
#include "disk.h"
#include "inner_sandbox.h"
#include "memory.h"
#include "monotonic.h"
#include "numbers.h"
#include "omitted_walls.h"
#include "plan.h"
#include "process_tree.h"
#include "refusals.h"
#include "sockets.h"
#include "tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOW_MS = 50, FAST_MS = 10, EXACT_MS = 100, CPU_SLOTS = 2048, INODE_BYTES = 1024, ATTACH_AT = 20 };

static struct guest_views views = {-1, -1, {-1, -1, -1}};
static uint64_t peak_bytes, cpu_us, sampled_cpu_us;
static pid_t reaper;
static int64_t started_us;
static uint64_t processors = 1;
static bool ever_unclaimed;
static uint64_t cpu_limit_us;
static int64_t next_exact_us;
static long page_size, ticks_per_s;

void limits_start(const struct plan *plan, pid_t pid) {
    reaper = pid;
    started_us = now_us();
    cpu_limit_us = plan->cpu_ms * 1000;
    uint64_t mask[16] = {0}, counted = 0;
    long filled = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    for (long i = 0, most = filled / 8; i < most; i++)
        for (uint64_t left = mask[i]; left; left &= left - 1)
            counted++;
    processors = counted ? counted : 1;
    page_size = sysconf(_SC_PAGESIZE);
    ticks_per_s = sysconf(_SC_CLK_TCK);
    if (!cgroup_version())
        memory_start();
    for (size_t i = 0; i < plan->watched_count; i++)
        disk_watch(plan->watched[i]);
}

static uint64_t tasks_seen;

/* CPU time since limits_cpu_anew. Live processes and samples of ended ones are two counts, each with its own
 * start: what one has missed so far must not hide what the other adds. */
static struct {
    uint64_t alive_us, sampled_us, group_us; /* at that moment, of each */
    uint64_t last_alive_us, most_us;
} window;

/* The task clock is inherited from what it was attached to, and a command of a living sandbox is a child of
 * pid 1, which no clock can be attached to: each new command makes the clock incomplete. */
enum { CLOCK_TRIES = 5 };
static int clock_tries; /* that are left to complete it: what has not become its program yet can't be attached to */

void limits_cpu_anew(void) {
    cpu_clock_detach();
    window.alive_us = window.last_alive_us;
    window.sampled_us = sampled_cpu_us;
    window.group_us = cpu_us;
    window.most_us = 0;
}

/* CPU time is for what runs at once, for a place may live for long: `first` has no other beside it. */
void limits_command_started(bool first) {
    clock_tries = CLOCK_TRIES;
    if (first)
        limits_cpu_anew();
}

static uint64_t window_us(uint64_t alive_us) {
    uint64_t alive = alive_us > window.alive_us ? alive_us - window.alive_us : 0;
    uint64_t sampled = sampled_cpu_us - window.sampled_us;
    return alive > sampled ? alive : sampled;
}

bool limits_alone(void) { return tasks_seen <= 1; }

int limits_proc(void) { return views.proc; }

void limits_attach(const struct guest_views *fds) { views = *fds; }

/* 0: none. */
static uint64_t rlimit_of(const struct plan *plan, int resource) {
    for (size_t i = 0; i < plan->rlimit_count; i++)
        if (plan->rlimits[i].resource == resource)
            return plan->rlimits[i].value;
    return 0;
}

struct sums {
    uint64_t resident;
    uint64_t faults; /* that brought a page */
    uint64_t cpu_us;
    uint64_t vanished, claimed; /* page faults of processes that are gone, and of waited-for children */
    uint64_t tasks, gone; /* and how many processes that were seen have ended */
    uint64_t most_files, full; /* the limit, and a process that has reached it */
    bool unclaimed;    /* a process does not wait for its children */
};

static void add_resident(const char *pid, struct sums *sums) {
    char text[128];
    uint64_t pages;
    const char *at = text;
    if (read_below(views.proc, pid, "statm", text, sizeof text) > 0 &&
        (at = next_number(at, &pages)) && next_number(at, &pages))
        sums->resident += pages * (uint64_t)page_size;
}

/* The CPU time of a child whose parent ignores SIGCHLD is lost, so each process is also sampled: what it used
 * since the last sample is added up for good. */
static struct sample {
    uint32_t pid, round;
    uint64_t ticks;
    uint64_t faults, waited; /* its own and its waited-for children's; of the latter only */
} samples[CPU_SLOTS];
static uint32_t current_round;
static uint64_t processes;

static void sample_cpu(const char *pid, uint64_t ticks, uint64_t faults, uint64_t waited, struct sums *sums) {
    uint64_t number;
    if (!next_number(pid, &number))
        return;
    struct sample *slot = &samples[number % CPU_SLOTS];
    bool known = slot->pid == number && slot->ticks <= ticks && slot->waited <= waited;
    processes += slot->pid != number;
    sampled_cpu_us += (ticks - (known ? slot->ticks : 0)) * 1000000 / (uint64_t)ticks_per_s;
    sums->claimed += waited - (known ? slot->waited : 0);
    *slot = (struct sample){(uint32_t)number, current_round, ticks, faults + waited, waited};
}

/* A process that was waited for has left its count of page faults to the process that waited. */
static void add_vanished(struct sums *sums) {
    for (size_t i = 0; i < CPU_SLOTS; i++)
        if (samples[i].pid && samples[i].round != current_round) {
            sums->vanished += samples[i].faults;
            sums->gone++;
            samples[i].pid = 0;
        }
}

/* utime, stime, cutime, cstime; the name before them may hold anything, so start after the last ). */
static void add_cpu(const char *pid, struct sums *sums) {
    char text[1024];
    enum { THREADS = 17 };
    uint64_t fields[THREADS + 1] = {0};
    if (read_below(views.proc, pid, "stat", text, sizeof text) <= 0)
        return;
    const char *at = strrchr(text, ')');
    if (!at || strlen(at) < 4)
        return;
    at += 3; /* past ") S" */
    for (int field = 1; field <= THREADS; field++)
        if (!(at = next_number(at, &fields[field])))
            return;
    sums->tasks += fields[THREADS];
    sums->faults += fields[7] + fields[8];
    uint64_t own = fields[11] + fields[12], children = fields[13] + fields[14];
    sums->cpu_us += (own + children) * 1000000 / (uint64_t)ticks_per_s;
    sample_cpu(pid, own, fields[7], fields[8], sums);
}

/* The size of that directory is how many there are; from Linux 6.2 on. */
static uint64_t open_files(const char *pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%s/fd", pid);
    return fstatat(views.proc, path, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
}

static void add_cheap(const char *pid, void *context) {
    struct sums *sums = context;
    uint64_t number = 0;
    add_resident(pid, sums);
    add_cpu(pid, sums);
    next_number(pid, &number);
    if (sums->most_files && open_files(pid) >= sums->most_files)
        sums->full = number;
}

/* Children of a process that ignores SIGCHLD vanish with their CPU time. */
static void note_unclaimed(const char *pid, void *context) {
    struct sums *sums = context;
    char text[2048];
    if (read_below(views.proc, pid, "status", text, sizeof text) <= 0)
        return;
    const char *at = strstr(text, "\nSigIgn:\t");
    enum { DIGIT_OF_SIGCHLD = 11 }; /* of 16: bits 16 to 19 */
    if (at && strnlen(at + 9, 16) == 16) {
        char digit = at[9 + DIGIT_OF_SIGCHLD];
        int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        sums->unclaimed = sums->unclaimed || (value & 1);
    }
}

/* Have tasks come and gone since the last look? The newest pid shows how many there were. */
static uint64_t gone_since(const struct sums *sums) {
    static uint64_t made_before, tasks_before;
    char text[128];
    uint64_t made = 0;
    if (tree_watched()) /* on the host it counts everybody's */
        return sums->gone;
    if (read_below(views.proc, ".", "loadavg", text, sizeof text) > 0) {
        const char *space = strrchr(text, ' ');
        if (space)
            next_number(space + 1, &made);
    }
    uint64_t fresh = made > made_before ? made - made_before : 0;
    uint64_t gone = fresh + tasks_before > sums->tasks ? fresh + tasks_before - sums->tasks : 0;
    made_before = made;
    tasks_before = sums->tasks;
    return gone;
}

/* Are page faults of ended processes missing from every live process? Those that are claimed during this look
 * show at the next one. */
static bool some_unclaimed(const struct sums *sums) {
    static uint64_t pending;
    bool missing = sums->claimed < pending;
    uint64_t due = sums->vanished + pending;
    uint64_t left = due > sums->claimed ? due - sums->claimed : 0;
    pending = left < sums->vanished ? left : sums->vanished;
    return missing;
}

/* CPU time of ended tasks that nobody waited for: from the kernel's task clock where it is available,
 * otherwise the upper bound is charged. */
static void charge_unclaimed(struct sums *sums) {
    static int64_t looked_us;
    static uint64_t counted_before, ever_gone;
    int64_t now = now_us();
    uint64_t gone = gone_since(sums);
    if (!looked_us)
        looked_us = started_us;
    ever_gone += gone;
    /* The clock is worth its cost once the limit may be near. */
    uint64_t possible_us = (uint64_t)(now - started_us) * processors;
    if (ever_gone && cpu_limit_us && possible_us > cpu_limit_us / ATTACH_AT &&
        (!cpu_clock_running() || clock_tries > 0)) {
        uint64_t known = window.sampled_us + window_us(sums->cpu_us);
        if (cpu_clock_running() && counted_before + cpu_clock_us() > known)
            known = counted_before + cpu_clock_us();
        bool lost;
        cpu_clock_detach();
        if (cpu_clock_attach(reaper, &lost))
            counted_before = known;
        clock_tries = lost && clock_tries > 0 ? clock_tries - 1 : 0;
    }
    if (cpu_clock_running()) {
        uint64_t counted = counted_before + cpu_clock_us();
        sampled_cpu_us = counted > sampled_cpu_us ? counted : sampled_cpu_us;
    }
    if (gone)
        each_process(views.proc, note_unclaimed, sums);
    sums->unclaimed = some_unclaimed(sums) || sums->unclaimed;
    if (ever_gone && !cpu_clock_running()) {
        uint64_t possible = possible_cpu_us(now - looked_us, gone < processors ? gone : processors);
        sampled_cpu_us += sums->unclaimed ? possible : 0;
    }
    ever_unclaimed = sums->unclaimed = sums->unclaimed || ever_unclaimed;
    looked_us = now;
}

/* Looks every so often for what no quick sum shows, unless the guest only sleeps. */
static bool time_for_exact(void) {
    static uint64_t cpu_then;
    static int idle; /* CPU time comes in ticks of 10 ms: recent use may not show yet */
    if (now_us() < next_exact_us || (cpu_us == cpu_then && idle >= 2))
        return false;
    idle = cpu_us == cpu_then ? idle + 1 : 0;
    cpu_then = cpu_us;
    return true;
}

/* The kernel enforces the limit itself, except for buffers of TCP and UDP sockets. */
static bool group_exceeded(const struct plan *plan) {
    uint64_t bytes = 0;
    if (cgroup_out_of_memory())
        return true;
    if (!cgroup_memory(&bytes))
        return false;
    bytes += cgroup_network(socket_bytes(&views, false));
    if (bytes > peak_bytes)
        peak_bytes = bytes;
    return plan->memory_bytes && (bytes > plan->memory_bytes || cgroup_thrashes(plan->memory_bytes, bytes));
}

static bool memory_exceeded(const struct plan *plan, const struct sums *sums, int *next_ms) {
    if (cgroup_version())
        return group_exceeded(plan);
    if (!plan->memory_bytes)
        return false;
    uint64_t private_files = used_bytes(views.root) + used_files(views.root) * INODE_BYTES;
    private_files += inner_bytes() + inner_files() * INODE_BYTES;
    uint64_t seen = sums->resident + private_files;
    if (seen > plan->memory_bytes / 2)
        *next_ms = FAST_MS;
    if (seen <= plan->memory_bytes && !time_for_exact()) {
        if (seen > peak_bytes)
            peak_bytes = seen;
        return false;
    }
    int64_t before = now_us();
    uint64_t faults = sums->unclaimed ? UINT64_MAX : sums->faults * (uint64_t)page_size;
    uint64_t exact = exact_memory(&views, private_files, faults);
    int64_t took = now_us() - before;
    /* A tenth of the time at most goes into looking. */
    next_exact_us = now_us() + (took * 10 > EXACT_MS * 1000 ? took * 10 : EXACT_MS * 1000);
    if (seen > plan->memory_bytes && took * 10 > (int64_t)*next_ms * 1000)
        *next_ms = (int)(took / 100);
    uint64_t reported = exact < 2 * plan->memory_bytes ? exact : 2 * plan->memory_bytes; /* parts are upper bounds */
    if (reported > peak_bytes)
        peak_bytes = reported;
    return exact > plan->memory_bytes;
}

/* File systems that another sandbox made for its guest have a size each, but the limit is for their sum. */
static bool places_full(const struct plan *plan) {
    return plan->disk_bytes && (inner_bytes() > plan->disk_bytes || (plan->bare.inodes && inner_files() > plan->bare.inodes));
}

enum limit limits_check(const struct plan *plan, int *next_ms) {
    struct sums sums = {0};
    *next_ms = SLOW_MS;
    if (!WALL_IS_UP(plan, WALL_WATCH))
        return LIMIT_NONE;
    cgroup_sweep();
    sums.most_files = rlimit_of(plan, RLIMIT_NOFILE);
    if (views.proc >= 0) {
        current_round++;
        each_process(views.proc, add_cheap, &sums);
        add_vanished(&sums);
        charge_unclaimed(&sums);
        tasks_seen = sums.tasks;
    }
    if (sums.full && !plan->bare.wanted)
        refusals_limit("files", (pid_t)sums.full);
    if (limits_space_full())
        refusals_limit("disk", 0);
    enum { OURS = 2 }; /* the reaper and the guest's first, as in plan.py */
    if (plan->process_limit && !plan->bare.wanted && sums.tasks >= plan->process_limit + OURS)
        refusals_limit("processes", 0);
    if (plan->process_limit && sums.tasks * 2 > plan->process_limit)
        *next_ms = FAST_MS;
    if (disk_exceeded(plan, views.proc, sums.unclaimed, false) || places_full(plan))
        return LIMIT_DISK;
    /* A disk fills by gigabytes a second, so a guest that may write to one is measured more often while it is
     * active. */
    static uint64_t resident_then, cpu_then;
    if (plan->watched_count && (sums.resident != resident_then || sums.cpu_us != cpu_then))
        *next_ms = FAST_MS;
    resident_then = sums.resident;
    cpu_then = sums.cpu_us;
    if (views.proc < 0)
        return LIMIT_NONE;
    uint64_t used = sums.cpu_us > sampled_cpu_us ? sums.cpu_us : sampled_cpu_us;
    if (cgroup_version())
        cgroup_cpu_us(&used);
    if (used > cpu_us)
        cpu_us = used;
    uint64_t counted = cgroup_version() ? cpu_us - window.group_us : window_us(sums.cpu_us);
    window.last_alive_us = sums.cpu_us;
    if (counted > window.most_us)
        window.most_us = counted;
    if (cpu_limit_us && window.most_us > cpu_limit_us)
        return LIMIT_CPU;
    if (cpu_limit_us && window.most_us > cpu_limit_us / 4 * 3)
        *next_ms = FAST_MS;
    return memory_exceeded(plan, &sums, next_ms) ? LIMIT_MEMORY : LIMIT_NONE;
}

static void highest(const char *pid, void *context) {
    uint64_t *most = context, number;
    if (next_number(pid, &number) && number > *most)
        *most = number;
}

/* Of an ended process only the pid is left. Pids are assigned in order, so one far above the highest seen was
 * never assigned. */
bool limits_had_process(uint32_t pid) {
    enum { MARGIN = 64 };
    uint64_t most = 0;
    if (views.proc < 0)
        return true;
    each_number(views.proc, highest, &most);
    return pid <= most + MARGIN;
}

bool limits_files_full(const struct plan *plan, pid_t task) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)task);
    uint64_t most = rlimit_of(plan, RLIMIT_NOFILE);
    return most && stat(path, &st) == 0 && (uint64_t)st.st_size >= most;
}

bool limits_space_full(void) {
    struct statfs fs;
    return views.root >= 0 && fstatfs(views.root, &fs) == 0 && fs.f_blocks && (fs.f_bfree == 0 || fs.f_ffree == 0);
}

uint64_t limits_mapped(pid_t task) {
    char text[2048];
    return task_read(task, "status", text, sizeof text) > 0 ? kilobytes_after(text, "\nVmData:") : 0;
}

bool limits_maps_too_much(const struct plan *plan, uint64_t total) {
    uint64_t most = rlimit_of(plan, RLIMIT_DATA);
    return most && total > most;
}

uint64_t limits_peak_bytes(void) { return peak_bytes; }

uint64_t limits_processes(void) { return processes; }

uint64_t limits_cpu_us(void) {
    cgroup_cpu_us(&cpu_us);
    return cpu_us;
}

/* A look takes long with hundreds of processes; at least half of the time is left for answering the guest. */
int64_t limits_next_us(int64_t looked_at, int next_ms) {
    int64_t now = now_us(), looked_us = now - looked_at, next_us = next_ms * INT64_C(1000);
    return now + (looked_us > next_us ? looked_us : next_us);
}
