/* set_tid_address: a word that is cleared when the thread ends. */
#define CAPABILITY "syscall_set_tid_address"
#include "_runner_c.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int word = 1, go;
static char stack[65536] __attribute__((aligned(64)));

CHECK(gives_the_threads_number) {
    want(works(syscall(SYS_set_tid_address, &word), "set_tid_address") == gettid(), "another");
}

CHECK(takes_any_address) {
    want(syscall(SYS_set_tid_address, 8) == gettid(), "address 8 was refused");
}

static int set_and_end(void *unused) {
    (void)unused;
    syscall(SYS_set_tid_address, &word);
    return 0;
}

CHECK(clears_the_word_at_the_end) {
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    works(clone(set_and_end, stack + sizeof stack, flags, NULL), "clone");
    want(soon(word == 0), "the word is %d", word);
}

static int set_and_end_when_told(void *unused) {
    syscall(SYS_set_tid_address, &word);
    while (!go)
        syscall(SYS_sched_yield);
    return set_and_end(unused);
}

CHECK(wakes_who_waits_on_the_word) {
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
    works(clone(set_and_end_when_told, stack + sizeof stack, flags, NULL), "clone");
    struct timespec limit = {2, 0};
    go = 1;
    long result = syscall(SYS_futex, &word, FUTEX_WAIT, 1, &limit, NULL, 0);
    want(result == 0 || errno == EAGAIN, "not woken");
    want(word == 0, "the word is %d", word);
}

CHECKS
