/* CPU time of the whole tree where no control group counts it. The time of a process that its parent does not
 * wait for (SA_NOCLDWAIT, SIGCHLD ignored) is added to no other process; but a perf event of the task clock
 * is inherited by whatever a task starts, and keeps the time of ended tasks.
 *
 * Opened only once processes have ended: the first event on a host costs a grace period. */
#define _GNU_SOURCE
#include "fortify.h"
#include "cpu_clock.h"
#include "directory.h"
#include "numbers.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_CLOCKS = 512, MAX_ATTACHED = 64 };

static int clocks[MAX_CLOCKS];
static size_t clock_count;
static uint64_t attached_tops[MAX_ATTACHED]; /* children of the reaper that have a clock */
static size_t attached_count;

static void attach(const char *tid, void *context) {
    uint64_t task;
    bool *attached = context;
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    if (clock_count == MAX_CLOCKS || !next_number(tid, &task))
        return;
    int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)task, -1, -1, 8 /* FLAG_FD_CLOEXEC */);
    if (fd < 0)
        return;
    clocks[clock_count++] = fd;
    *attached = true;
}

static bool attach_threads(uint64_t pid) {
    char path[48];
    bool attached = false;
    snprintf(path, sizeof path, "/proc/%llu/task", (unsigned long long)pid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;
    each_number(dir, attach, &attached);
    close(dir);
    return attached;
}

static void read_text(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

/* The newest pid on this host: later processes have a greater one. */
static uint64_t newest_task(void) {
    char text[128];
    uint64_t newest;
    read_text("/proc/loadavg", text, sizeof text);
    const char *space = strrchr(text, ' ');
    return space && next_number(space + 1, &newest) ? newest : UINT64_MAX;
}

static bool is_attached(uint64_t pid) {
    for (size_t i = 0; i < attached_count; i++)
        if (attached_tops[i] == pid)
            return true;
    return false;
}

/* Attaches a clock to each process below one, up to `newest`; later ones inherit their parent's. Returns
 * whether one ended before it could be attached to. */
static bool attach_below(uint64_t pid, uint64_t newest, int depth) {
    enum { DEEPEST = 32 };
    char path[64], text[8192];
    uint64_t child;
    bool lost = false;
    snprintf(path, sizeof path, "/proc/%llu/task/%llu/children", (unsigned long long)pid, (unsigned long long)pid);
    read_text(path, text, sizeof text);
    for (const char *at = text; depth < DEEPEST && (at = next_number(at, &child));) {
        if ((child > newest && newest > pid) || (depth == 0 && is_attached(child)))
            continue;
        if (!attach_threads(child)) {
            lost = true;
            continue;
        }
        if (depth == 0 && attached_count < MAX_ATTACHED)
            attached_tops[attached_count++] = child;
        attach_below(child, newest_task(), depth + 1);
    }
    return lost;
}

/* Orphans are children of the reaper, too. If a process ends while we look, we look again. Before the guest
 * has become its program no process can be attached to, so this may find none. */
bool cpu_clock_attach(pid_t reaper, bool *lost) {
    enum { TRIES = 8 };
    *lost = true;
    for (int i = 0; i < TRIES && *lost && (i == 0 || clock_count > 0); i++)
        *lost = attach_below((uint64_t)reaper, UINT64_MAX, 0);
    return clock_count > 0;
}

void cpu_clock_detach(void) {
    while (clock_count > 0)
        close(clocks[--clock_count]);
    attached_count = 0;
}

bool cpu_clock_running(void) { return clock_count > 0; }

/* What they have counted since they were attached. */
uint64_t cpu_clock_us(void) {
    uint64_t sum = 0, ns;
    for (size_t i = 0; i < clock_count; i++)
        if (read(clocks[i], &ns, sizeof ns) == (ssize_t)sizeof ns)
            sum += ns;
    return sum / 1000;
}

/* How long all processors together have been busy: "cpu  user nice system idle iowait irq softirq …", in
 * ticks. */
static uint64_t busy_us(void) {
    static int stat = -1;
    char text[256];
    uint64_t sum = 0, ticks;
    if (stat < 0)
        stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = stat < 0 ? -1 : pread(stat, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *at = text + strcspn(text, " ");
    enum { IDLE = 3, IOWAIT = 4, FIELDS = 7 };
    for (int field = 0; field < FIELDS && (at = next_number(at, &ticks)); field++)
        sum += field == IDLE || field == IOWAIT ? 0 : ticks;
    return n > 0 ? sum * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK) : UINT64_MAX;
}

uint64_t possible_cpu_us(int64_t interval_us, uint64_t used) {
    static uint64_t busy_then;
    uint64_t busy = busy_us(), most = (uint64_t)interval_us * used;
    uint64_t passed = busy_then && busy >= busy_then ? busy - busy_then : most;
    busy_then = busy;
    return passed < most ? passed : most;
}
