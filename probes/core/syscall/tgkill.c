/* tgkill: a signal to a thread of a process. */
#define CAPABILITY "syscall_tgkill"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

static volatile pid_t hearer, thread_id;
static volatile int code, stay = 1;

static void hear(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    code = info->si_code;
    hearer = gettid();
}

static void listen(void) {
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    works(sigaction(SIGUSR1, &action, NULL), "sigaction");
}

static void *live(void *unused) {
    thread_id = gettid();
    while (stay)
        rest();
    return unused;
}

static void start(void) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, live, NULL) == 0, "no thread");
    want(soon(thread_id), "it does not begin");
}

CHECK(reaches_the_caller_before_it_returns) {
    listen();
    works(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1), "tgkill");
    want(hearer == gettid(), "not heard");
}

CHECK(reaches_that_thread_and_no_other) {
    listen();
    start();
    works(syscall(SYS_tgkill, getpid(), thread_id, SIGUSR1), "tgkill");
    want(soon(hearer) && hearer == thread_id, "thread %d heard it", hearer);
}

CHECK(says_how_it_was_sent) {
    listen();
    works(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1), "tgkill");
    want(code == SI_TKILL, "the code is %d", code);
}

CHECK(ends_the_whole_process) {
    pid_t child = child_that(waits);
    works(syscall(SYS_tgkill, child, child, SIGTERM), "tgkill");
    want(WTERMSIG(end_of(child)) == SIGTERM, "another end");
}

CHECK(of_signal_0_asks_whether_the_thread_is_there) {
    start();
    works(syscall(SYS_tgkill, getpid(), thread_id, 0), "tgkill 0");
    stay = 0;
    want(soon(syscall(SYS_tgkill, getpid(), thread_id, 0) == -1 && errno == ESRCH), "it lives on");
}

CHECK(refuses_a_thread_of_another_process) {
    pid_t child = child_that(waits);
    refuses(syscall(SYS_tgkill, getpid(), child, 0), ESRCH, "a child as thread");
}

CHECK(refuses_numbers_that_name_no_process) {
    refuses(syscall(SYS_tgkill, 0, gettid(), 0), EINVAL, "process 0");
    refuses(syscall(SYS_tgkill, getpid(), -1, 0), EINVAL, "thread -1");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_tgkill, getpid(), NOBODY, SIGUSR1), ESRCH, "nobody");
}

CHECK(refuses_what_is_no_signal) {
    refuses(syscall(SYS_tgkill, getpid(), gettid(), 65), EINVAL, "signal 65");
}

CHECKS
