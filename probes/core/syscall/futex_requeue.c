/* futex_requeue: waiters moved from one word to another. */
#define CAPABILITY "syscall_futex_requeue"
#include "_runner_c.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_requeue
#define SYS_futex_requeue 456
#endif
#define U32 2 /* FUTEX2_SIZE_U32 */

static uint32_t words[2];
static struct futex_waitv places[2];
static volatile int done;

/* Wake some who wait on the first word, move others to the second. */
static long requeue(uint32_t value, int woken, int moved) {
    for (int i = 0; i < 2; i++)
        places[i] = (struct futex_waitv){.uaddr = (uintptr_t)&words[i], .flags = U32};
    places[0].val = value;
    return syscall(SYS_futex_requeue, places, 0, woken, moved);
}

static long wake(int which) {
    return syscall(SYS_futex, &words[which], FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *wait_on_first(void *unused) {
    syscall(SYS_futex, &words[0], FUTEX_WAIT, 0, NULL, NULL, 0);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void start(void) {
    pthread_t thread;
    works(requeue(0, 0, 0), "futex_requeue of none");
    want(pthread_create(&thread, NULL, wait_on_first, NULL) == 0, "no thread");
}

CHECK(moves_a_waiter) {
    start();
    want(soon(requeue(0, 0, 1) == 1), "nobody was moved");
    want(done == 0, "it was woken");
    want(wake(0) == 0, "it still waits on the first");
    want(wake(1) == 1 && soon(done == 1), "it does not wait on the second");
}

CHECK(wakes_before_it_moves) {
    start();
    want(soon(requeue(0, 1, 1) == 1), "nobody was woken");
    want(soon(done == 1), "it was moved");
}

CHECK(moves_as_many_as_asked) {
    start();
    start();
    want(soon(requeue(0, 0, 1) == 1), "nobody was moved");
    want(soon(requeue(0, 0, 1) == 1), "the second was not moved");
    want(wake(1) == 1 && wake(1) == 1 && wake(1) == 0, "not both wait on the second");
}

CHECK(moves_nobody_where_nobody_waits) {
    want(works(requeue(0, 1, 1), "futex_requeue") == 0, "somebody waits");
}

CHECK(refuses_a_changed_word) {
    refuses(requeue(7, 1, 1), EAGAIN, "another value");
}

CHECK(refuses_negative_counts) {
    refuses(requeue(0, -1, 1), EINVAL, "-1 to wake");
    refuses(requeue(0, 1, -1), EINVAL, "-1 to move");
}

CHECK(refuses_unknown_flags) {
    requeue(0, 0, 0);
    refuses(syscall(SYS_futex_requeue, places, 1, 1, 1), EINVAL, "flag 1");
}

CHECK(refuses_unknown_flags_of_a_word) {
    requeue(0, 0, 0);
    places[1].flags = U32 | 0x1000;
    refuses(syscall(SYS_futex_requeue, places, 0, 1, 1), EINVAL, "flag 0x1000");
}

CHECK(refuses_no_words) {
    refuses(syscall(SYS_futex_requeue, NULL, 0, 1, 1), EINVAL, "NULL");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_futex_requeue, 8, 0, 1, 1), EFAULT, "words at address 8");
}

CHECKS
