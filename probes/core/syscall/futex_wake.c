/* futex_wake: waking who waits on a word. */
#define CAPABILITY "syscall_futex_wake"
#include "_runner_c.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#define U32 2UL /* FUTEX2_SIZE_U32 */
#define PRIVATE 128UL
#define ANY 0xffffffffUL

static uint32_t word, *at = &word;
static int operation = FUTEX_WAIT_BITSET;
static volatile int done;

static long wake(unsigned long mask, int count, unsigned long flags) {
    return syscall(SYS_futex_wake, at, mask, count, flags);
}

static void *wait_for_bit(void *bit) {
    if (syscall(SYS_futex, at, operation, 0, NULL, NULL, (uint32_t)(uintptr_t)bit) == 0)
        __atomic_add_fetch(&done, (int)(uintptr_t)bit, __ATOMIC_SEQ_CST);
    return NULL;
}

static void start(uintptr_t bit) {
    pthread_t thread;
    works(wake(ANY, 0, U32), "futex_wake of none");
    want(pthread_create(&thread, NULL, wait_for_bit, (void *)bit) == 0, "no thread");
}

CHECK(wakes_who_waits) {
    start(1);
    want(soon(wake(ANY, 1, U32) == 1), "nobody waits");
    want(soon(done == 1), "it was not woken");
}

CHECK(wakes_privately) {
    operation |= FUTEX_PRIVATE_FLAG;
    start(1);
    want(soon(wake(ANY, 1, U32 | PRIVATE) == 1), "nobody waits");
    want(soon(done == 1), "it was not woken");
}

CHECK(wakes_by_bits) {
    start(1);
    start(2);
    want(soon(wake(2, INT_MAX, U32) == 1), "nobody waits for 2");
    want(soon(done == 2), "another was woken");
    want(soon(wake(1, INT_MAX, U32) == 1), "nobody waits for 1");
    want(soon(done == 3), "it was not woken");
}

CHECK(wakes_as_many_as_asked) {
    for (int i = 0; i < 3; i++)
        start(1);
    for (int i = 1; i <= 3; i++) {
        want(soon(wake(ANY, 1, U32) == 1), "nobody waits");
        want(soon(done >= i) && done == i, "%d went on", done);
    }
}

static void waits_for_1(void) {
    wait_for_bit((void *)1);
    _exit(done == 1 ? 0 : 1);
}

CHECK(wakes_another_process) {
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    works(wake(ANY, 0, U32), "futex_wake of none");
    pid_t child = child_that(waits_for_1);
    want(soon(wake(ANY, 1, U32) == 1), "nobody waits");
    want(end_of(child) == 0, "it was not woken");
}

CHECK(wakes_nobody_where_nobody_waits) {
    want(works(wake(ANY, 1, U32), "futex_wake") == 0, "somebody waits");
}

CHECK(refuses_no_bits) {
    refuses(wake(0, 1, U32), EINVAL, "no bits");
}

CHECK(refuses_unknown_flags) {
    refuses(wake(ANY, 1, U32 | 0x1000), EINVAL, "flag 0x1000");
}

CHECK(refuses_a_word_out_of_line) {
    at = (uint32_t *)((uintptr_t)&word + 1);
    refuses(wake(ANY, 1, U32), EINVAL, "a word out of line");
}

CHECK(refuses_a_bad_address) {
    at = (uint32_t *)8;
    refuses(wake(ANY, 1, U32), EFAULT, "address 8");
}

CHECKS
