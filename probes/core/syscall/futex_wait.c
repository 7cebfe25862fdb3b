/* futex_wait: waiting on a word. */
#define CAPABILITY "syscall_futex_wait"
#include "_runner_c.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#define U32 2UL /* FUTEX2_SIZE_U32 */
#define PRIVATE 128UL
#define ANY 0xffffffffUL

static uint32_t word;

static long wait_on(void *at, unsigned long value, unsigned long mask, unsigned long flags,
                    const struct timespec *until) {
    return syscall(SYS_futex_wait, at, value, mask, flags, until, CLOCK_MONOTONIC);
}

static unsigned long mask = ANY, flags = U32;

static void *wait_on_word(void *result) {
    *(long *)result = wait_on(&word, 0, mask, flags, NULL);
    return NULL;
}

/* What a waiter gets that is woken by the old call. */
static long woken(int operation, uint32_t bits) {
    pthread_t thread;
    long result = -1;
    want(pthread_create(&thread, NULL, wait_on_word, &result) == 0, "no thread");
    want(soon(syscall(SYS_futex, &word, operation, 1, NULL, NULL, bits) == 1), "nobody waits");
    pthread_join(thread, NULL);
    return result;
}

CHECK(is_woken) {
    want(woken(FUTEX_WAKE, 0) == 0, "not woken");
}

CHECK(is_woken_privately) {
    flags = U32 | PRIVATE;
    want(woken(FUTEX_WAKE_PRIVATE, 0) == 0, "not woken");
}

CHECK(is_woken_by_its_bits) {
    mask = 4;
    want(woken(FUTEX_WAKE_BITSET, 4) == 0, "not woken");
}

static uint32_t *shared;

static void waits_on_shared(void) {
    _exit(wait_on(shared, 0, ANY, U32, NULL) == 0 ? 0 : 1);
}

CHECK(is_woken_by_another_process) {
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    works(wait_on(shared, 1, ANY, U32, NULL) == -1 && errno == ENOSYS ? -1 : 0, "futex_wait");
    pid_t child = child_that(waits_on_shared);
    want(soon(syscall(SYS_futex, shared, FUTEX_WAKE, 1, NULL, NULL, 0) == 1), "nobody waits");
    want(end_of(child) == 0, "not woken");
}

CHECK(waits_until_a_time) {
    struct timespec past = {1, 0};
    refuses(wait_on(&word, 0, ANY, U32, &past), ETIMEDOUT, "a time that has passed");
}

static void heard(int signal) {
    (void)signal;
}

CHECK(is_interrupted_by_a_signal) {
    struct sigaction action = {.sa_handler = heard};
    works(sigaction(SIGALRM, &action, NULL), "sigaction");
    ualarm(20000, 20000);
    refuses(wait_on(&word, 0, ANY, U32, NULL), EINTR, "a wait under an alarm");
}

CHECK(refuses_a_changed_word) {
    refuses(wait_on(&word, 1, ANY, U32, NULL), EAGAIN, "another value");
}

CHECK(refuses_no_bits) {
    refuses(wait_on(&word, 0, 0, U32, NULL), EINVAL, "no bits");
}

CHECK(refuses_unknown_flags) {
    refuses(wait_on(&word, 0, ANY, U32 | 0x1000, NULL), EINVAL, "flag 0x1000");
}

CHECK(refuses_a_value_beyond_the_word) {
    refuses(wait_on(&word, 1UL << 32, ANY, U32, NULL), EINVAL, "a value of 33 bits");
}

CHECK(refuses_a_bad_address) {
    refuses(wait_on((void *)8, 0, ANY, U32, NULL), EFAULT, "address 8");
}

CHECKS
