/* Everything a run does, reported on a descriptor of its own while it runs: one record for each call
 * worth reporting (or for every call), one for each program that a process becomes, totals at the end.
 *
 * Records are little-endian: u32 size of the whole, u8 kind, u8 errno that the call will meet (as
 * far as it can be foreseen), u16 call, u32 task, u32 process, u64 nanoseconds since the start; then
 *   call     6 × u64 arguments, then texts: u8 argument, u8 what it is, u16 length, bytes
 *   process  u32 parent, u32 pid inside, then its command line, words ended by NULs
 *   total    u64 count, u64 foreseen failures, u64 nanoseconds spent waiting in it
 *   waited   u64 nanoseconds that the task waited in its last call; only with every call
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "trace.h"
#include "call.h"
#include "descriptors.h"
#include "hash.h"
#include "monotonic.h"
#include "numbers.h"
#include "plan.h"
#include "status.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    ROOM = 1 << 20,
    FULL = ROOM - (1 << 15), /* above this the guest waits until the reader has caught up */
    MAX_TASKS = 4096,
    MAX_KNOWN = 1 << 16,
    MAX_OPEN = 256,
    COMMAND_ROOM = 4096,
    READ_EVERY = 64,
    LOOKS = 8,
    LONG_WAIT_NS = 10000000, /* our own delays hardly matter beside it */
    LEAST_WAIT_NS = 100000, /* a shorter wait may be the wait for our own answer */
};

enum record_kind { RECORD_CALL = 1, RECORD_PROCESS, RECORD_TOTAL, RECORD_WAITED };

struct __attribute__((packed)) header {
    uint32_t size;
    uint8_t kind, error;
    uint16_t call;
    uint32_t task, process;
    uint64_t at_ns;
};

struct task {
    uint32_t id, process;
    int schedstat; /* open as long as there are few */
    int call;      /* the one it went on with, or -1 */
    uint64_t went_on_ns;
    uint64_t ran_ns, since_ns; /* what it had run when that was last read; what passed since */
    unsigned unread;
    uint32_t program; /* as last reported */
    uint8_t becoming; /* after so many more calls, check whether it has become another program */
};

static unsigned char room[ROOM];
static size_t used, written;
static bool wanted, every, begun, gone;
static uint64_t began_ns;
static struct task tasks[MAX_TASKS];
static int open_stats, threads; /* accounts of tasks that are not the first of their process */
static uint32_t known[MAX_KNOWN];
static struct {
    uint64_t count, failed, waited_ns;
} totals[MAX_SYSCALL];

void trace_begin(const struct plan *plan) {
    wanted = plan->trace;
    every = plan->trace_every;
    began_ns = now_ns();
    if (wanted)
        fcntl(FD_TRACE, F_SETFL, O_NONBLOCK);
}

bool trace_on(void) { return wanted; }

bool trace_has_begun(void) { return begun; }

bool trace_full(void) { return wanted && !gone && used - written > FULL; }

int trace_fd(void) { return wanted && !gone && used > written ? FD_TRACE : -1; }

void trace_flush(void) {
    while (used > written && !gone) {
        ssize_t n = write(FD_TRACE, room + written, used - written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0)
            gone = true; /* the reader is gone; the run goes on */
        else
            written += (size_t)n;
    }
    if (gone || used == written)
        used = written = 0;
}

static void append(const void *bytes, size_t len) {
    memcpy(room + used, bytes, len);
    used += len;
}

/* Moves the buffered bytes to the front; a record that still does not fit is dropped. */
static bool fits(size_t len) {
    if (used + len <= sizeof room)
        return true;
    for (size_t i = written; i < used; i++)
        room[i - written] = room[i];
    used -= written;
    written = 0;
    return used + len <= sizeof room;
}

static void put_header(enum record_kind kind, size_t payload, int error, int call, uint32_t task,
                       uint32_t process) {
    struct header header = {(uint32_t)(sizeof header + payload), (uint8_t)kind, (uint8_t)error,
                            (uint16_t)call, task, process, now_ns() - began_ns};
    append(&header, sizeof header);
}

/* Reports the program of a process, unless it was reported: an exec may have failed, or not be done yet. The
 * data that the kernel gives to a new program, addresses above all, differs even if it is the same program
 * again. */
static bool record_process(struct task *task) {
    static char status[2048], command[COMMAND_ROOM], handed[1024];
    ssize_t len = task_read((pid_t)task->process, "cmdline", command, sizeof command);
    size_t size = len > 0 ? (size_t)len : 0;
    len = task_read((pid_t)task->process, "auxv", handed, sizeof handed);
    uint32_t program = hash_bytes(HASH_START, handed, len > 0 ? (size_t)len : 0);
    program = hash_bytes(program, command, size) | 1;
    if (program == task->program || task_read((pid_t)task->process, "status", status, sizeof status) <= 0)
        return false;
    uint32_t ids[2] = {(uint32_t)number_after(status, "\nPPid:\t", false),
                       (uint32_t)number_after(status, "\nNSpid:\t", true)};
    if (!fits(sizeof(struct header) + sizeof ids + size))
        return false;
    task->program = program;
    put_header(RECORD_PROCESS, sizeof ids + size, 0, 0, task->id, task->process);
    append(ids, sizeof ids);
    append(command, size);
    return true;
}

struct times {
    uint64_t ran, queued;
};

static struct times times_of(int schedstat) {
    char text[64];
    struct times times = {0, 0};
    ssize_t n = schedstat < 0 ? -1 : pread(schedstat, text, sizeof text - 1, 0);
    if (n <= 0)
        return times;
    text[n] = '\0';
    const char *at = next_number(text, &times.ran);
    if (at)
        next_number(at, &times.queued);
    return times;
}

static uint64_t ran_ns(const struct task *task) {
    struct times times = times_of(task->schedstat);
    return times.ran + times.queued;
}

/* How long we waited for a processor since the last call: a guest that makes its next call meanwhile waits
 * for us, not in its previous call. */
static uint64_t our_delay_ns(void) {
    static int own = -2;
    static uint64_t before;
    if (own == -2)
        own = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    uint64_t queued = times_of(own).queued, delay = queued - before;
    before = queued;
    return delay;
}

static struct task *task_slot(uint32_t id) {
    for (uint32_t i = 0; i < 64; i++) {
        struct task *task = &tasks[(id + i * 61) % MAX_TASKS];
        if (task->id == id || task->id == 0)
            return task;
    }
    return &tasks[id % MAX_TASKS]; /* full: the oldest account is closed */
}

static void forget_task(struct task *task) {
    if (task->id && task->schedstat >= 0) {
        close(task->schedstat);
        open_stats--;
    }
    threads -= task->id != task->process;
    *task = (struct task){.schedstat = -1, .call = -1};
}

static void forget_process(uint32_t process) {
    struct task *first = task_slot(process);
    if (first->id == process)
        forget_task(first);
    for (size_t i = 0; i < MAX_TASKS && threads > 0; i++)
        if (tasks[i].id && tasks[i].process == process)
            forget_task(&tasks[i]);
}

/* A task that was killed sends nothing; long after, another may have its pid. */
static bool is_another(const struct task *task, uint64_t now) {
    return task->ran_ns && now - task->went_on_ns > LEAST_WAIT_NS && ran_ns(task) == 0;
}

static struct task *task_of(uint32_t id, uint64_t now) {
    struct task *task = task_slot(id);
    if (task->id == id && !is_another(task, now))
        return task;
    char text[2048];
    forget_task(task);
    *task = (struct task){.id = id, .process = id, .schedstat = -1, .call = -1};
    if (task_read((pid_t)id, "status", text, sizeof text) > 0)
        task->process = (uint32_t)number_after(text, "\nTgid:\t", false);
    threads += task->process != id;
    if (open_stats < MAX_OPEN) {
        snprintf(text, sizeof text, "/proc/%u/schedstat", id);
        task->schedstat = open(text, O_RDONLY | O_CLOEXEC);
        open_stats += task->schedstat >= 0;
    }
    if (task->process == id)
        record_process(task);
    return task;
}

static void record_wait(const struct task *task, uint64_t waited_ns) {
    totals[task->call].waited_ns += waited_ns;
    if (!every || !fits(sizeof(struct header) + sizeof waited_ns))
        return;
    put_header(RECORD_WAITED, sizeof waited_ns, 0, task->call, task->id, task->process);
    append(&waited_ns, sizeof waited_ns);
}

/* How long it waited since its call went on: time in which it neither ran nor waited for a processor. Reading
 * its run time costs as much as a call, so it is read after long pauses and every so often; in between it
 * counts as running. */
static void close_account(struct task *task, uint64_t now) {
    uint64_t passed = task->call < 0 ? 0 : now - task->went_on_ns;
    if (passed < LEAST_WAIT_NS && task->ran_ns && ++task->unread < READ_EVERY) {
        task->since_ns += passed;
        task->call = -1;
        return;
    }
    uint64_t ran = ran_ns(task), busy = ran - task->ran_ns, ours = our_delay_ns();
    if (passed < LONG_WAIT_NS)
        busy += ours;
    busy = busy > task->since_ns ? busy - task->since_ns : 0;
    if (task->call >= 0 && task->ran_ns && ran && passed > busy + LEAST_WAIT_NS)
        record_wait(task, passed - busy);
    task->ran_ns = ran;
    task->since_ns = task->unread = 0;
    task->call = -1;
}

static bool seen_before(const struct call *call, const struct watched *watched, int error,
                        const struct traced_text *texts, size_t count) {
    uint32_t hash = HASH_START ^ (uint32_t)call->number ^ (uint32_t)error << 16;
    for (size_t i = 0; i < count; i++) {
        hash = hash_number(hash, (uint32_t)texts[i].what);
        hash = hash_bytes(hash, texts[i].at, texts[i].len);
    }
    if (watched->flags >= 0)
        hash = hash_number(hash, (uint32_t)call->args[watched->flags]);
    hash += hash == 0;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t *slot = &known[(hash + i) % MAX_KNOWN];
        if (*slot == hash)
            return true;
        if (*slot == 0) {
            *slot = hash;
            return false;
        }
    }
    return false;
}

static void record_call(const struct call *call, const struct task *task, int error,
                      const struct traced_text *texts, size_t count) {
    size_t payload = sizeof call->args;
    for (size_t i = 0; i < count; i++)
        payload += 4 + texts[i].len;
    if (!fits(sizeof(struct header) + payload))
        return;
    put_header(RECORD_CALL, payload, error, call->number, task->id, task->process);
    append(call->args, sizeof call->args);
    for (size_t i = 0; i < count; i++) {
        unsigned char head[4] = {(unsigned char)texts[i].argument, (unsigned char)texts[i].what,
                                 (unsigned char)(texts[i].len & 0xff), (unsigned char)(texts[i].len >> 8)};
        append(head, sizeof head);
        append(texts[i].at, texts[i].len);
    }
}

void trace_call(const struct call *call, const struct watched *watched, int error,
                const struct traced_text *texts, size_t count, bool exists) {
    bool becomes = watched->kind == WATCH_EXEC && exists;
    begun = begun || becomes; /* until then it is the launcher's search */
    if (!begun || call->number < 0 || call->number >= MAX_SYSCALL)
        return;
    uint64_t now = now_ns();
    struct task *task = task_of((uint32_t)call->task, now);
    if (task->becoming)
        task->becoming = record_process(task) ? 0 : task->becoming - 1;
    close_account(task, now);
    totals[call->number].count++;
    totals[call->number].failed += error != 0;
    bool ends = watched->kind == WATCH_EXIT;
    if (every || ends || becomes || (count > 0 && !seen_before(call, watched, error, texts, count)))
        record_call(call, task, error, texts, count);
    struct task *first = task_slot(task->process);
    if (becomes && first->id == task->process) /* any thread that does gets the first one's number */
        first->becoming = LOOKS;
    task->call = call->number;
    if (ends && call->number == SYS_exit_group)
        forget_process(task->process);
    else if (ends)
        forget_task(task);
}

/* Right before the answer goes out. */
void trace_goes_on(pid_t id) {
    struct task *task = task_slot((uint32_t)id);
    if (task->id == (uint32_t)id)
        task->went_on_ns = now_ns();
}

void trace_settle(void) {
    if (!wanted)
        return;
    uint64_t now = now_ns();
    for (size_t i = 0; i < MAX_TASKS; i++)
        if (tasks[i].id && tasks[i].call >= 0)
            close_account(&tasks[i], now);
}

void trace_end(void) {
    if (!wanted)
        return;
    for (int call = 0; call < MAX_SYSCALL; call++) {
        uint64_t figures[3] = {totals[call].count, totals[call].failed, totals[call].waited_ns};
        if (!figures[0] || !fits(sizeof(struct header) + sizeof figures))
            continue;
        put_header(RECORD_TOTAL, sizeof figures, 0, call, 0, 0);
        append(figures, sizeof figures);
    }
    do /* everything, now that no guest waits for us */
        trace_flush();
    while (used > written && !gone && reader_waits(FD_TRACE));
    close(FD_TRACE);
}
