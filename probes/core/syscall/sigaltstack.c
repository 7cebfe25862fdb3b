/* sigaltstack: a stack of their own for handlers. */
#define CAPABILITY "syscall_sigaltstack"
#include "_runner_c.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char area[65536] __attribute__((aligned(64)));
static volatile int on_it, told_flags, refused;
static stack_t ours = {.ss_sp = area, .ss_size = sizeof area};

static void hear(int signal) {
    char here;
    stack_t now = {.ss_size = 0};
    (void)signal;
    syscall(SYS_sigaltstack, NULL, &now);
    told_flags = now.ss_flags;
    on_it = &here >= area && &here < area + sizeof area;
    refused = syscall(SYS_sigaltstack, &ours, NULL) == -1 ? errno : 0;
}

static void listen(int flags) {
    struct sigaction action = {.sa_handler = hear, .sa_flags = flags};
    works(sigaction(SIGUSR1, &action, NULL), "sigaction");
}

static void set(void) {
    works(syscall(SYS_sigaltstack, &ours, NULL), "sigaltstack");
}

CHECK(is_what_handlers_run_on_if_asked) {
    set();
    listen(SA_ONSTACK);
    raise(SIGUSR1);
    want(on_it, "the handler ran elsewhere");
    want(told_flags & SS_ONSTACK, "the flags were %d", told_flags);
}

CHECK(is_left_alone_otherwise) {
    set();
    listen(0);
    raise(SIGUSR1);
    want(!on_it && !(told_flags & SS_ONSTACK), "the handler ran on it");
}

CHECK(reports_what_was_set) {
    stack_t old;
    works(syscall(SYS_sigaltstack, NULL, &old), "sigaltstack");
    set();
    works(syscall(SYS_sigaltstack, NULL, &old), "sigaltstack");
    want(old.ss_sp == area && old.ss_size == sizeof area && old.ss_flags == 0, "another stack");
}

CHECK(is_disabled_if_asked) {
    stack_t off = {.ss_flags = SS_DISABLE}, old;
    set();
    works(syscall(SYS_sigaltstack, &off, NULL), "sigaltstack");
    works(syscall(SYS_sigaltstack, NULL, &old), "sigaltstack");
    want(old.ss_flags == SS_DISABLE, "the flags are %d", old.ss_flags);
    listen(SA_ONSTACK);
    raise(SIGUSR1);
    want(!on_it, "the handler ran on it");
}

CHECK(is_not_changed_while_in_use) {
    set();
    listen(SA_ONSTACK);
    raise(SIGUSR1);
    want(refused == EPERM, "the change gave %d", refused);
}

CHECK(may_be_disarmed_for_the_handler) {
    ours.ss_flags = (int)(1U << 31); /* SS_AUTODISARM */
    set();
    listen(SA_ONSTACK);
    raise(SIGUSR1);
    want(on_it && refused == 0, "the change gave %d", refused);
}

static sigjmp_buf back;

static void catch(int signal) {
    siglongjmp(back, signal);
}

static int recur(int depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return depth < 0 ? 0 : recur(depth + 1) + room[depth % 4096];
}

CHECK(catches_the_overflow_of_the_other) {
    struct sigaction action = {.sa_handler = catch, .sa_flags = SA_ONSTACK};
    set();
    works(sigaction(SIGSEGV, &action, NULL), "sigaction");
    if (sigsetjmp(back, 1) == 0)
        want(recur(0) == 0, "endless recursion ended");
}

static void is_set(void) {
    stack_t old;
    syscall(SYS_sigaltstack, NULL, &old);
    _exit(old.ss_sp == area ? 0 : 1);
}

static void *is_not_set(void *answer) {
    stack_t old;
    syscall(SYS_sigaltstack, NULL, &old);
    *(int *)answer = old.ss_flags == SS_DISABLE;
    return NULL;
}

CHECK(is_inherited_by_a_child_and_by_no_thread) {
    pthread_t thread;
    int none = 0;
    set();
    want(end_of(child_that(is_set)) == 0, "the child has none");
    want(pthread_create(&thread, NULL, is_not_set, &none) == 0, "no thread");
    pthread_join(thread, NULL);
    want(none, "the thread has one");
}

CHECK(refuses_a_small_one) {
    ours.ss_size = 100;
    refuses(syscall(SYS_sigaltstack, &ours, NULL), ENOMEM, "100 bytes");
}

CHECK(refuses_unknown_flags) {
    ours.ss_flags = 0x40;
    refuses(syscall(SYS_sigaltstack, &ours, NULL), EINVAL, "flag 0x40");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_sigaltstack, 8, NULL), EFAULT, "a stack at address 8");
    refuses(syscall(SYS_sigaltstack, NULL, 8), EFAULT, "the former one to address 8");
}

CHECKS
