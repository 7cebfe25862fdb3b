/* set_robust_list: locks that are marked when their owner dies. */
#define CAPABILITY "syscall_set_robust_list"
#include "_runner_c.h"

#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct lock {
    struct robust_list list;
    uint32_t word;
};

static struct lock *locks; /* shared with children */
static struct robust_list_head head = {
    .futex_offset = offsetof(struct lock, word) - offsetof(struct lock, list)};

static void map_locks(void) {
    locks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    want(locks != MAP_FAILED, "no shared memory");
}

/* Two locks of the caller's, in its list; the second is taken last. */
static void takes_locks(void) {
    head.list.next = &locks[0].list;
    locks[0].list.next = &locks[1].list;
    locks[1].list.next = &head.list;
    works(syscall(SYS_set_robust_list, &head, sizeof head), "set_robust_list");
    for (int i = 0; i < 2; i++)
        __atomic_store_n(&locks[i].word, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
}

CHECK(marks_the_locks_of_the_dead) {
    map_locks();
    end_of(child_that(takes_locks));
    for (int i = 0; i < 2; i++)
        want(locks[i].word & FUTEX_OWNER_DIED, "lock %d is %#x", i, locks[i].word);
}

static void takes_locks_and_waits(void) {
    takes_locks();
    waits();
}

CHECK(marks_the_locks_of_the_killed) {
    map_locks();
    pid_t child = child_that(takes_locks_and_waits);
    want(soon(__atomic_load_n(&locks[1].word, __ATOMIC_SEQ_CST)), "no lock");
    works(kill(child, SIGKILL), "kill");
    end_of(child);
    want(locks[0].word & FUTEX_OWNER_DIED, "the lock is %#x", locks[0].word);
}

static void takes_another_ones_lock(void) {
    takes_locks();
    locks[1].word = 12345;
}

CHECK(leaves_the_locks_of_others) {
    map_locks();
    end_of(child_that(takes_another_ones_lock));
    want(locks[1].word == 12345, "another's lock is %#x", locks[1].word);
}

static void dies_while_locking(void) {
    head.list.next = &head.list;
    locks[0].word = (uint32_t)gettid();
    head.list_op_pending = &locks[0].list;
    works(syscall(SYS_set_robust_list, &head, sizeof head), "set_robust_list");
}

CHECK(marks_the_lock_that_was_being_taken) {
    map_locks();
    end_of(child_that(dies_while_locking));
    want(locks[0].word & FUTEX_OWNER_DIED, "the lock is %#x", locks[0].word);
}

static void takes_locks_and_is_waited_for(void) {
    takes_locks();
    soon(__atomic_load_n(&locks[0].word, __ATOMIC_SEQ_CST) & FUTEX_WAITERS);
}

CHECK(wakes_who_waits_for_the_lock) {
    map_locks();
    struct timespec limit = {2, 0};
    pid_t child = child_that(takes_locks_and_is_waited_for);
    want(soon(__atomic_load_n(&locks[1].word, __ATOMIC_SEQ_CST)), "no lock");
    uint32_t held = __atomic_or_fetch(&locks[0].word, FUTEX_WAITERS, __ATOMIC_SEQ_CST);
    long result = syscall(SYS_futex, &locks[0].word, FUTEX_WAIT, held, &limit, NULL, 0);
    want(result == 0 || errno == EAGAIN, "not woken");
    want(soon(__atomic_load_n(&locks[0].word, __ATOMIC_SEQ_CST) & FUTEX_OWNER_DIED), "unmarked");
    end_of(child);
}

CHECK(takes_the_list_that_is_given) {
    void *current;
    size_t size;
    works(syscall(SYS_set_robust_list, &head, sizeof head), "set_robust_list");
    works(syscall(SYS_get_robust_list, 0, &current, &size), "get_robust_list");
    want(current == &head && size == sizeof head, "another list");
}

CHECK(refuses_another_size) {
    refuses(syscall(SYS_set_robust_list, &head, sizeof head - 1), EINVAL, "a byte less");
    refuses(syscall(SYS_set_robust_list, &head, 0), EINVAL, "0 bytes");
}

CHECKS
