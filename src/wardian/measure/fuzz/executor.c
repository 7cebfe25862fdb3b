/* Runs short programs of system calls and reports what each call returned and changed.
 *
 *   executor --inside              in a sandbox, which has confined it already
 *   executor --inside-as-root      the same, where root is nobody outside
 *   executor --oracle              on the host: first goes where nothing can be harmed
 *
 * Programs come on standard input, results go to standard output; wire.py has the other end of both
 * formats. Each program runs in a child of its own, with limits, in a scratch directory that is made
 * anew. It decides nothing: what a difference means is not known here.
 */
#define _GNU_SOURCE
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fixed, so that a pointer is the same number on both sides. What programs unmap or overrun lies
 * above what we need ourselves. */
#define RESULTS_AT 0x10000000UL
#define ARENA_AT 0x20000000UL
#define REGION_AT 0x40000000UL
#define PAGE 4096UL
#define ARENA_SIZE (8 * PAGE) /* the last page is read-only, nothing is mapped behind it */
#define REGION_SIZE (16 * PAGE)

#define MAX_CALLS 8
#define MAX_WORDS 1024 /* changed words reported for one call */
#define MAX_PROGRAMS_BYTES (64UL << 20)
#define MAX_LOOKS 100
#define FORKED_EXIT 7
#define ENDED_BY_TIME 1000

#define QUEUE "q"
enum { USES_IPC = 1, TOUCHES_ATTRIBUTES = 2 };
enum { LITERAL, RESULT, WORD, OWN_PID };

struct call {
    uint32_t number;
    uint8_t kinds[6];
    uint8_t unused[6];
    uint64_t values[6];
};
_Static_assert(sizeof(struct call) == 64, "the wire format");

struct word {
    uint32_t index, unused;
    uint64_t value;
};

struct answer {
    int64_t result;
    uint32_t count, more; /* `more` words changed than are reported */
    struct word words[MAX_WORDS];
};

struct results {
    uint32_t started, done;
    struct answer answers[MAX_CALLS];
};

static struct results *const results = (struct results *)RESULTS_AT;
static uint8_t *const arena = (uint8_t *)ARENA_AT;
static uint8_t before[ARENA_SIZE];

void die(const char *format, ...) {
    int number = errno;
    va_list arguments;
    va_start(arguments, format);
    fputs("executor: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(number));
    exit(3);
}

/* ---- one program ---------------------------------------------------------------------------- */

static void limit(int which, rlim_t value) {
    struct rlimit wanted = {value, value}, now;
    if (getrlimit((__rlimit_resource_t)which, &now) == 0 && now.rlim_max < value)
        wanted.rlim_cur = wanted.rlim_max = now.rlim_max;
    setrlimit((__rlimit_resource_t)which, &wanted); /* the one on core files can't be set inside */
}

static void take_limits(void) {
    limit(RLIMIT_CPU, 2);
    limit(RLIMIT_FSIZE, 1 << 20);
    limit(RLIMIT_DATA, 64 << 20);
    limit(RLIMIT_STACK, 8 << 20);
    limit(RLIMIT_CORE, 1); /* not 0: only 1 keeps a crash away from a piped handler, core(5) */
    limit(RLIMIT_RSS, 64 << 20);
    limit(RLIMIT_NPROC, 64);
    limit(RLIMIT_NOFILE, 64);
    limit(RLIMIT_MEMLOCK, 64 << 10);
    limit(RLIMIT_LOCKS, 64);
    limit(RLIMIT_SIGPENDING, 64);
    limit(RLIMIT_MSGQUEUE, 400 << 10);
    limit(RLIMIT_NICE, 0);
    limit(RLIMIT_RTPRIO, 0);
    limit(RLIMIT_RTTIME, 1000000);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, 512 << 20);
#endif
}

static uint64_t argument(const struct call *call, int place) {
    uint64_t value = call->values[place];
    switch (call->kinds[place]) {
    case RESULT:
        return value < MAX_CALLS ? (uint64_t)results->answers[value].result : ~0UL;
    case WORD: {
        int32_t word;
        if (value > ARENA_SIZE - sizeof word)
            return ~0UL;
        memcpy(&word, arena + value, sizeof word);
        return (uint64_t)(int64_t)word;
    }
    case OWN_PID:
        return (uint64_t)getpid();
    default:
        return value;
    }
}

static void note_changes(struct answer *answer) {
    if (memcmp(before, arena, ARENA_SIZE) == 0)
        return;
    for (uint32_t i = 0; i < ARENA_SIZE / 8; i++) {
        uint64_t old, now;
        memcpy(&old, before + 8 * i, 8);
        memcpy(&now, arena + 8 * i, 8);
        if (old == now)
            continue;
        memcpy(before + 8 * i, &now, 8);
        if (answer->count < MAX_WORDS)
            answer->words[answer->count++] = (struct word){.index = i, .value = now};
        else
            answer->more++;
    }
}

static void run_calls(const struct call *calls, uint32_t count) {
    pid_t self = getpid();
    for (uint32_t i = 0; i < count; i++) {
        struct answer *answer = &results->answers[i];
        uint64_t args[6];
        for (int place = 0; place < 6; place++)
            args[place] = argument(&calls[i], place);
        results->started = i + 1;
        long result = syscall((long)calls[i].number, args[0], args[1], args[2], args[3], args[4], args[5]);
        int number = errno;
        if (result == 0 && syscall(SYS_getpid) != self)
            _exit(FORKED_EXIT);
        answer->result = result == -1 ? -number : result;
        note_changes(answer);
        results->done = i + 1;
    }
}

static void in_child(const uint8_t *image, uint32_t patches, const struct call *calls, uint32_t count) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(99);
    for (int fd = 3; fd < 16; fd++)
        close(fd);
    umask(022);
    take_limits();
    for (uint32_t i = 0; i < patches; i++) {
        uint32_t at, length;
        memcpy(&at, image, 4);
        memcpy(&length, image + 4, 4);
        memcpy(arena + at, image + 8, length);
        image += 8 + length;
    }
    mprotect(arena + ARENA_SIZE - PAGE, PAGE, PROT_READ);
    memcpy(before, arena, ARENA_SIZE);
    run_calls(calls, count);
    _exit(0);
}

/* Does it wait, rather than want for a processor on a busy machine? */
static bool is_waiting(pid_t child) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    const char *end = n > 0 ? strrchr(text, ')') : NULL;
    return !end || strlen(end) < 3 || end[2] != 'R';
}

/* The exit code, minus the signal, or ENDED_BY_TIME: after two looks without progress in between. */
static int await(pid_t child, uint32_t timeout_ms) {
    sigset_t ended;
    struct timespec wait = {timeout_ms / 2000, timeout_ms / 2 % 1000 * 1000000L};
    int status = 0;
    bool late = false;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (int looks = 0, progress = -1; waitpid(child, &status, late ? 0 : WNOHANG) != child;) {
        if (sigtimedwait(&ended, NULL, &wait) >= 0 || errno == EINTR)
            continue;
        int now = (int)(results->started + results->done);
        late = (now == progress && is_waiting(child)) || ++looks > MAX_LOOKS;
        progress = now;
        if (late)
            kill(child, SIGKILL);
    }
    kill(-child, SIGKILL); /* what it has started is of its session */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    if (late)
        return ENDED_BY_TIME;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void clear_ipc(void) {
    struct shm_info shm;
    struct seminfo sem;
    struct msginfo msg;
    union {
        struct seminfo *info;
        struct semid_ds *data;
    } argument = {.info = &sem};
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *)&shm);
    for (int i = 0; i <= last; i++) {
        struct shmid_ds data;
        int id = shmctl(i, SHM_STAT, &data);
        if (id >= 0)
            shmctl(id, IPC_RMID, NULL);
    }
    last = semctl(0, 0, SEM_INFO, argument);
    for (int i = 0; i <= last; i++) {
        struct semid_ds data;
        argument.data = &data;
        int id = semctl(i, 0, SEM_STAT, argument);
        if (id >= 0)
            semctl(id, 0, IPC_RMID);
    }
    last = msgctl(0, MSG_INFO, (struct msqid_ds *)&msg);
    for (int i = 0; i <= last; i++) {
        struct msqid_ds data;
        int id = msgctl(i, MSG_STAT, &data);
        if (id >= 0)
            msgctl(id, IPC_RMID, NULL);
    }
    syscall(SYS_mq_unlink, QUEUE);
}

/* ---- input and output ----------------------------------------------------------------------- */

static uint8_t *input;
static size_t input_size, input_at;
static int out_fd;

static void read_input(void) {
    size_t room = 1 << 16;
    if (!(input = malloc(room)))
        die("memory");
    for (;;) {
        if (input_size == room && (room *= 2) > MAX_PROGRAMS_BYTES) {
            errno = EFBIG;
            die("reading programs");
        }
        if (!(input = realloc(input, room)))
            die("memory");
        ssize_t n = read(0, input + input_size, room - input_size);
        if (n < 0)
            die("reading programs");
        if (n == 0)
            return;
        input_size += (size_t)n;
    }
}

static const uint8_t *take(size_t size) {
    if (size > input_size - input_at) {
        errno = EBADMSG;
        die("a program is cut short");
    }
    input_at += size;
    return input + input_at - size;
}

static uint32_t take_number(void) {
    uint32_t number;
    memcpy(&number, take(4), 4);
    return number;
}

static void put(const void *data, size_t size) {
    static uint8_t buffer[1 << 16];
    static size_t used;
    const uint8_t *from = data;
    bool flush = !data;
    while (size || flush) {
        if (used == sizeof buffer || flush) {
            for (size_t at = 0; at < used;) {
                ssize_t n = write(out_fd, buffer + at, used - at);
                if (n < 0)
                    die("writing results");
                at += (size_t)n;
            }
            used = 0;
            flush = false;
        }
        size_t part = size < sizeof buffer - used ? size : sizeof buffer - used;
        if (part)
            memcpy(buffer + used, from, part);
        used += part;
        from = from ? from + part : NULL;
        size -= part;
    }
}

static void put_number(uint32_t number) { put(&number, 4); }

static void put_result(uint32_t index, pid_t child, int ended, const struct listing *changed) {
    uint32_t done = results->done <= MAX_CALLS ? results->done : MAX_CALLS;
    put("PROG", 4);
    put_number(index);
    put_number((uint32_t)child);
    put_number((uint32_t)getpid());
    put_number((uint32_t)ended);
    put_number(results->started);
    put_number(done);
    for (uint32_t i = 0; i < done; i++) {
        const struct answer *answer = &results->answers[i];
        uint32_t count = answer->count <= MAX_WORDS ? answer->count : MAX_WORDS;
        put(&answer->result, 8);
        put_number(count);
        put_number(answer->more);
        put(answer->words, count * sizeof *answer->words);
    }
    put_number(changed ? (uint32_t)changed->used : UINT32_MAX);
    if (changed)
        put(changed->text, changed->used);
    put(NULL, 0);
}

static void forget_results(void) {
    for (int i = 0; i < MAX_CALLS; i++) {
        results->answers[i].result = -ENOSYS;
        results->answers[i].count = results->answers[i].more = 0;
    }
    results->started = results->done = 0;
}

static void run_program(uint32_t index, uint32_t timeout_ms, const struct listing *fresh) {
    static struct listing now;
    uint32_t flags = take_number(), patches = take_number(), count = take_number();
    const uint8_t *image = input + input_at;
    for (uint32_t i = 0; i < patches; i++) {
        uint32_t at = take_number(), length = take_number();
        if (at > ARENA_SIZE || length > ARENA_SIZE - at) {
            errno = EBADMSG;
            die("program %u writes outside the arena", index);
        }
        take(length);
    }
    struct call calls[MAX_CALLS];
    if (count > MAX_CALLS) {
        errno = EBADMSG;
        die("program %u has %u calls", index, count);
    }
    memcpy(calls, take(count * sizeof *calls), count * sizeof *calls);
    forget_results();
    pid_t child = fork();
    if (child < 0)
        die("starting program %u", index);
    if (child == 0)
        in_child(image, patches, calls, count);
    int ended = await(child, timeout_ms);
    if (flags & USES_IPC)
        clear_ipc();
    list_scratch(&now);
    bool changed = now.used != fresh->used || memcmp(now.text, fresh->text, now.used) != 0;
    put_result(index, child, ended, changed ? &now : NULL);
    if (changed || flags & TOUCHES_ATTRIBUTES)
        reset_scratch();
    if (flags & TOUCHES_ATTRIBUTES)
        chmod("/dev/ptmx", 0666); /* the one file outside that a program may own */
}

static void map_at(unsigned long place, size_t size, int sharing) {
    int flags = MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | sharing;
    void *found = mmap((void *)place, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found != (void *)place) {
        errno = found == MAP_FAILED ? errno : EEXIST;
        die("mapping %#lx", place);
    }
}

int main(int argc, char **argv) {
    static struct listing fresh;
    bool oracle = argc == 2 && strcmp(argv[1], "--oracle") == 0;
    bool as_root = argc == 2 && strcmp(argv[1], "--inside-as-root") == 0;
    if (!oracle && !as_root && (argc != 2 || strcmp(argv[1], "--inside") != 0)) {
        fputs("usage: executor --inside | --inside-as-root | --oracle < programs > results\n", stderr);
        return 2;
    }
    umask(022);
    if (oracle)
        become_oracle();
    require_no_rights(as_root);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die("setting no_new_privs");
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_NAME, "executor", 0, 0, 0);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    for (int number = 1; number < 65; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL); /* what the caller ignores is not ignored by programs */
    map_at(RESULTS_AT, (sizeof *results + PAGE - 1) / PAGE * PAGE, MAP_SHARED);
    map_at(ARENA_AT, ARENA_SIZE, MAP_PRIVATE);
    map_at(REGION_AT, REGION_SIZE, MAP_PRIVATE);
    out_fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (out_fd < 0)
        die("keeping the output");
    read_input();
    if (memcmp(take(4), "WFZ1", 4) != 0) {
        errno = EBADMSG;
        die("these are no programs");
    }
    uint32_t count = take_number(), timeout_ms = take_number();
    reset_scratch();
    list_scratch(&fresh);
    put("WFR1", 4);
    for (uint32_t i = 0; i < count; i++)
        run_program(i, timeout_ms, &fresh);
    put("DONE", 4);
    put(NULL, 0);
    return 0;
}
