/* CPU time of the whole tree where no control group counts it. The time of a process that its parent does
 * not wait for (SA_NOCLDWAIT, SIGCHLD ignored) is added to nobody's account; but an event of the kernel's
 * own task clock is inherited by whatever a task starts, and keeps the time of those that are gone.
 *
 * Opened once children come and go, and not before: the first event on a host costs a grace period. */
#define _GNU_SOURCE
#include "launch.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_CLOCKS = 512 };

static int clocks[MAX_CLOCKS];
static size_t clock_count;
static bool tried;

static void attach(const char *tid, void *context) {
    uint64_t task;
    (void)context;
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    if (clock_count == MAX_CLOCKS || !next_number(tid, &task))
        return;
    int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)task, -1, -1, 8 /* FLAG_FD_CLOEXEC */);
    if (fd >= 0)
        clocks[clock_count++] = fd;
}

static void attach_threads(uint64_t pid) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%llu/task", (unsigned long long)pid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    each_number(dir, attach, NULL);
    close(dir);
}

/* Below the reaper, by their ids out here; orphans are its children, too. */
static void attach_below(uint64_t pid, int depth) {
    enum { DEEPEST = 32 };
    char path[64], text[8192];
    uint64_t child;
    snprintf(path, sizeof path, "/proc/%llu/task/%llu/children", (unsigned long long)pid, (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (const char *at = text; depth < DEEPEST && (at = next_number(at, &child));) {
        attach_threads(child);
        attach_below(child, depth + 1);
    }
}

bool clock_attach(pid_t reaper) {
    if (!tried)
        attach_below((uint64_t)reaper, 0);
    tried = true;
    return clock_count > 0;
}

bool clock_running(void) { return clock_count > 0; }

/* What they have counted since they were attached. */
uint64_t clock_us(void) {
    uint64_t sum = 0, ns;
    for (size_t i = 0; i < clock_count; i++)
        if (read(clocks[i], &ns, sizeof ns) == (ssize_t)sizeof ns)
            sum += ns;
    return sum / 1000;
}
