/* futex_waitv: waiting on several words at once. */
#define CAPABILITY "syscall_futex_waitv"
#include "_runner_c.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define COUNT 3
#define U32 2 /* FUTEX2_SIZE_U32 */

static uint32_t words[COUNT];
static struct futex_waitv waiters[129];

static long wait_on(unsigned count, const struct timespec *until) {
    return syscall(SYS_futex_waitv, waiters, count, 0, until, CLOCK_MONOTONIC);
}

/* Name the words. */
static void prepare(uint32_t flags) {
    for (int i = 0; i < COUNT; i++)
        waiters[i] = (struct futex_waitv){.uaddr = (uintptr_t)&words[i], .flags = flags};
}

static void *wait_on_all(void *result) {
    *(long *)result = wait_on(COUNT, NULL);
    return NULL;
}

static long woken_by(int which, int private, uint32_t flags) {
    pthread_t thread;
    long result = -1;
    prepare(flags);
    want(pthread_create(&thread, NULL, wait_on_all, &result) == 0, "no thread");
    want(soon(syscall(SYS_futex, &words[which], FUTEX_WAKE | private, 1, NULL, NULL, 0) == 1),
         "nobody waits");
    pthread_join(thread, NULL);
    return result;
}

CHECK(reports_which_word_it_was_woken_on) {
    want(woken_by(2, 0, U32) == 2, "another word");
    want(woken_by(0, 0, U32) == 0, "another word");
}

CHECK(waits_privately) {
    want(woken_by(1, FUTEX_PRIVATE_FLAG, U32 | FUTEX_PRIVATE_FLAG) == 1, "another word");
}

CHECK(waits_until_a_time) {
    struct timespec past = {1, 0};
    prepare(U32);
    refuses(wait_on(COUNT, &past), ETIMEDOUT, "a time that has passed");
}

CHECK(refuses_a_changed_word) {
    prepare(U32);
    words[1] = 1;
    refuses(wait_on(COUNT, NULL), EAGAIN, "a changed word");
}

static void heard(int signal) {
    (void)signal;
}

CHECK(is_interrupted_by_a_signal) {
    struct sigaction action = {.sa_handler = heard};
    works(sigaction(SIGALRM, &action, NULL), "sigaction");
    prepare(U32);
    ualarm(20000, 20000);
    refuses(wait_on(COUNT, NULL), EINTR, "a wait under an alarm");
}

CHECK(refuses_none) {
    refuses(wait_on(0, NULL), EINVAL, "no words");
}

CHECK(refuses_too_many) {
    refuses(wait_on(129, NULL), EINVAL, "129 words");
}

CHECK(refuses_unknown_flags) {
    prepare(U32);
    refuses(syscall(SYS_futex_waitv, waiters, COUNT, 1, NULL, CLOCK_MONOTONIC), EINVAL, "flag 1");
    prepare(U32 | 0x1000);
    refuses(wait_on(COUNT, NULL), EINVAL, "flag 0x1000 of a word");
}

CHECK(refuses_what_is_reserved) {
    prepare(U32);
    waiters[0].__reserved = 1;
    refuses(wait_on(COUNT, NULL), EINVAL, "a reserved field");
}

CHECK(refuses_an_unknown_clock) {
    struct timespec past = {1, 0};
    prepare(U32);
    refuses(syscall(SYS_futex_waitv, waiters, COUNT, 0, &past, CLOCK_PROCESS_CPUTIME_ID), EINVAL,
            "the clock of the process");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_futex_waitv, 8, 1, 0, NULL, CLOCK_MONOTONIC), EFAULT, "words at 8");
    prepare(U32);
    waiters[0].uaddr = 8;
    refuses(wait_on(COUNT, NULL), EFAULT, "a word at 8");
}

CHECKS
