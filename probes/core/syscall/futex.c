/* futex: waiting and waking on a word, in all its ways. */
#define CAPABILITY "syscall_futex"
#include "_runner_c.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word, other;
static volatile int done;

static long futex(uint32_t *at, int operation, uint32_t value, const void *timeout, uint32_t bits) {
    return syscall(SYS_futex, at, operation, value, timeout, &other, bits);
}

static long wake(uint32_t *at, int count) {
    return futex(at, FUTEX_WAKE, (uint32_t)count, NULL, 0);
}

static void *wait_on_word(void *result) {
    *(long *)result = futex(&word, FUTEX_WAIT, 0, NULL, 0);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static pthread_t start(void *(*does)(void *), void *argument) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, does, argument) == 0, "no thread");
    return thread;
}

CHECK(wakes_who_waits) {
    long result = -1;
    pthread_t thread = start(wait_on_word, &result);
    want(soon(wake(&word, 1) == 1), "nobody waits");
    pthread_join(thread, NULL);
    want(result == 0, "the waiter got %ld", result);
}

CHECK(wakes_as_many_as_asked) {
    long results[3];
    for (int i = 0; i < 3; i++)
        start(wait_on_word, &results[i]);
    for (int i = 1; i <= 3; i++) {
        want(soon(wake(&word, 1) == 1), "nobody waits");
        want(soon(done >= i) && done == i, "%d went on", done);
    }
    want(wake(&word, INT_MAX) == 0, "there are more");
}

CHECK(wakes_nobody_where_nobody_waits) {
    want(works(wake(&word, 1), "wake") == 0, "somebody waits");
}

static uint32_t *shared;

static void waits_on_shared(void) {
    _exit(futex(shared, FUTEX_WAIT, 0, NULL, 0) == 0 ? 0 : 1);
}

CHECK(wakes_another_process) {
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = child_that(waits_on_shared);
    want(soon(wake(shared, 1) == 1), "nobody waits");
    want(end_of(child) == 0, "the child was not woken");
}

static void *wait_privately(void *result) {
    *(long *)result = futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, 0);
    return NULL;
}

CHECK(wakes_privately) {
    long result = -1;
    pthread_t thread = start(wait_privately, &result);
    want(soon(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, 0) == 1), "nobody waits");
    pthread_join(thread, NULL);
    want(result == 0, "the waiter got %ld", result);
}

CHECK(refuses_to_wait_on_a_changed_word) {
    word = 1;
    refuses(futex(&word, FUTEX_WAIT, 0, NULL, 0), EAGAIN, "FUTEX_WAIT");
}

CHECK(waits_no_longer_than_asked) {
    struct timespec limit = {0, 10000000}, before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    refuses(futex(&word, FUTEX_WAIT, 0, &limit, 0), ETIMEDOUT, "FUTEX_WAIT of 10 ms");
    clock_gettime(CLOCK_MONOTONIC, &after);
    want((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec >= 10000000,
         "it was shorter");
}

CHECK(waits_until_a_time_by_either_clock) {
    struct timespec past = {1, 0};
    uint32_t any = FUTEX_BITSET_MATCH_ANY;
    refuses(futex(&word, FUTEX_WAIT_BITSET, 0, &past, any), ETIMEDOUT, "monotonic");
    refuses(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past, any), ETIMEDOUT,
            "real time");
}

static void *wait_for_bit(void *bit) {
    futex(&word, FUTEX_WAIT_BITSET, 0, NULL, *(uint32_t *)bit);
    __atomic_or_fetch((int *)&done, *(int *)bit, __ATOMIC_SEQ_CST);
    return NULL;
}

CHECK(wakes_by_bits) {
    uint32_t one = 1, two = 2;
    start(wait_for_bit, &one);
    start(wait_for_bit, &two);
    want(soon(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, 2) == 1), "nobody waits for 2");
    want(soon(done == 2), "another was woken");
    want(soon(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, 1) == 1), "nobody waits for 1");
    want(soon(done == 3), "it was not woken");
}

CHECK(moves_waiters_to_another_word) {
    long result = -1;
    pthread_t thread = start(wait_on_word, &result);
    want(soon(futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1, 0) == 1), "nobody was moved");
    want(wake(&word, 1) == 0, "it still waits on the first");
    want(wake(&other, 1) == 1, "it does not wait on the second");
    pthread_join(thread, NULL);
    refuses(futex(&word, FUTEX_CMP_REQUEUE, 0, (void *)1, 5), EAGAIN, "a changed word");
}

CHECK(changes_one_word_and_wakes_on_two) {
    long result = -1;
    int operation = FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 99);
    pthread_t thread = start(wait_on_word, &result);
    want(soon(futex(&word, FUTEX_WAKE_OP, 1, (void *)1, (uint32_t)operation) == 1), "nobody waits");
    pthread_join(thread, NULL);
    want(other >= 3 && other % 3 == 0, "the other word is %u", other);
}

static void heard(int signal) {
    (void)signal;
}

CHECK(is_interrupted_by_a_signal) {
    struct sigaction action = {.sa_handler = heard};
    works(sigaction(SIGALRM, &action, NULL), "sigaction");
    ualarm(20000, 20000);
    refuses(futex(&word, FUTEX_WAIT, 0, NULL, 0), EINTR, "FUTEX_WAIT under an alarm");
}

CHECK(locks_with_the_owners_number) {
    works(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
    want((word & FUTEX_TID_MASK) == (uint32_t)gettid(), "the owner is %u", word);
    refuses(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), EDEADLK, "FUTEX_LOCK_PI again");
    works(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, 0), "FUTEX_UNLOCK_PI");
    want(word == 0, "it is still locked");
}

static void *lock(void *unused) {
    works(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
    done = 1;
    return unused;
}

CHECK(hands_a_lock_to_who_waits) {
    works(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
    start(lock, NULL);
    want(soon(__atomic_load_n(&word, __ATOMIC_SEQ_CST) & FUTEX_WAITERS), "nobody waits");
    works(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, 0), "FUTEX_UNLOCK_PI");
    want(soon(done), "it was not handed over");
    refuses(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, 0), EPERM, "unlocking another's");
}

static void *lock_and_die(void *unused) {
    works(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
    done = 1;
    soon(__atomic_load_n(&word, __ATOMIC_SEQ_CST) & FUTEX_WAITERS);
    return unused;
}

CHECK(hands_over_the_lock_of_the_dead) {
    start(lock_and_die, NULL);
    want(soon(done), "no lock");
    works(futex(&word, FUTEX_LOCK_PI, 0, NULL, 0), "FUTEX_LOCK_PI");
    want(word & FUTEX_OWNER_DIED && (word & FUTEX_TID_MASK) == (uint32_t)gettid(), "%#x", word);
}

CHECK(tries_a_lock_without_waiting) {
    works(futex(&word, FUTEX_TRYLOCK_PI, 0, NULL, 0), "FUTEX_TRYLOCK_PI");
    want((word & FUTEX_TID_MASK) == (uint32_t)gettid(), "the owner is %u", word);
}

CHECK(refuses_a_word_out_of_line) {
    refuses(futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 0, NULL, 0), EINVAL, "FUTEX_WAIT");
}

CHECK(refuses_a_bad_address) {
    refuses(futex((uint32_t *)8, FUTEX_WAIT, 0, NULL, 0), EFAULT, "FUTEX_WAIT at address 8");
}

CHECK(refuses_a_bad_time) {
    struct timespec bad = {0, 1000000000};
    refuses(futex(&word, FUTEX_WAIT, 0, &bad, 0), EINVAL, "a whole second of nanoseconds");
}

CHECK(refuses_no_bits) {
    refuses(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, 0), EINVAL, "FUTEX_WAIT_BITSET of 0");
}

CHECK(refuses_an_unknown_operation) {
    refuses(futex(&word, 99, 0, NULL, 0), ENOSYS, "operation 99");
}

CHECKS
