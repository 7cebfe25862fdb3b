/* rseq: restartable sequences, and the processor that the kernel writes down for them. */
#define CAPABILITY "syscall_rseq"
#include "_runner_c.h"

#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNATURE 0x53053053
#define SIZE 32

static struct rseq area __attribute__((aligned(32)));
static char stack[65536] __attribute__((aligned(64)));
static volatile int result, number;

static void keep(long got) {
    result = got == -1 ? -1 : 0;
    number = got == -1 ? errno : 0;
}

/* A child in the same memory has nothing registered, whatever libc did for its parent. */
static void in_a_fresh_thread(int (*does)(void *)) {
    int pid = clone(does, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    want(end_of((int)works(pid, "clone")) == 0, "the child did not end well");
    errno = number;
}

static long enrol(void *where, int size, int flags) {
    return syscall(SYS_rseq, where, size, flags, SIGNATURE);
}

static int enrols(void *unused) {
    (void)unused;
    unsigned cpu, tries = 100;
    area.cpu_id = (unsigned)-1;
    keep(enrol(&area, SIZE, 0));
    do
        syscall(SYS_getcpu, &cpu, NULL, NULL);
    while (result == 0 && area.cpu_id != cpu && --tries); /* it may be moved in between */
    return result == 0 && !tries;
}

CHECK(writes_down_the_processor) {
    in_a_fresh_thread(enrols);
    works(result, "rseq");
}

static int enrols_and_leaves(void *unused) {
    (void)unused;
    keep(enrol(&area, SIZE, 0));
    if (result == 0)
        keep(enrol(&area, SIZE, RSEQ_FLAG_UNREGISTER));
    return result == 0 && area.cpu_id != (unsigned)RSEQ_CPU_ID_UNINITIALIZED;
}

CHECK(stops_when_asked) {
    in_a_fresh_thread(enrols_and_leaves);
    works(result, "rseq");
}

static int enrols_twice(void *unused) {
    (void)unused;
    if (enrol(&area, SIZE, 0) == 0)
        keep(enrol(&area, SIZE, 0));
    else
        number = errno;
    return 0;
}

CHECK(refuses_to_register_twice) {
    result = -1;
    in_a_fresh_thread(enrols_twice);
    refuses(result, EBUSY, "registering twice");
}

static int enrols_out_of_line(void *unused) {
    (void)unused;
    keep(enrol((char *)&area + 4, SIZE, 0));
    return 0;
}

CHECK(refuses_a_place_out_of_line) {
    in_a_fresh_thread(enrols_out_of_line);
    refuses(result, EINVAL, "a place out of line");
}

static int enrols_nowhere(void *unused) {
    (void)unused;
    keep(enrol((void *)-4096L, SIZE, 0));
    return 0;
}

CHECK(refuses_a_bad_address) {
    in_a_fresh_thread(enrols_nowhere);
    refuses(result, EFAULT, "a place in the kernel");
}

static int leaves_unregistered(void *unused) {
    (void)unused;
    keep(enrol(&area, SIZE, RSEQ_FLAG_UNREGISTER));
    return 0;
}

CHECK(refuses_to_stop_what_never_began) {
    in_a_fresh_thread(leaves_unregistered);
    refuses(result, EINVAL, "stopping");
}

CHECKS
