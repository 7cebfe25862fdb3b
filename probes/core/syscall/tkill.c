/* tkill: a signal to a thread, by its number alone. */
#define CAPABILITY "syscall_tkill"
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
    works(syscall(SYS_tkill, gettid(), SIGUSR1), "tkill");
    want(hearer == gettid(), "not heard");
}

CHECK(reaches_that_thread_and_no_other) {
    listen();
    start();
    works(syscall(SYS_tkill, thread_id, SIGUSR1), "tkill");
    want(soon(hearer) && hearer == thread_id, "thread %d heard it", hearer);
}

CHECK(says_how_it_was_sent) {
    listen();
    works(syscall(SYS_tkill, gettid(), SIGUSR1), "tkill");
    want(code == SI_TKILL, "the code is %d", code);
}

CHECK(ends_the_whole_process) {
    pid_t child = child_that(waits);
    works(syscall(SYS_tkill, child, SIGTERM), "tkill");
    want(WTERMSIG(end_of(child)) == SIGTERM, "another end");
}

CHECK(of_signal_0_asks_whether_the_thread_is_there) {
    start();
    works(syscall(SYS_tkill, thread_id, 0), "tkill 0");
    stay = 0;
    want(soon(syscall(SYS_tkill, thread_id, 0) == -1 && errno == ESRCH), "it lives on");
}

CHECK(refuses_numbers_that_name_no_thread) {
    refuses(syscall(SYS_tkill, 0, 0), EINVAL, "thread 0");
    refuses(syscall(SYS_tkill, -1, 0), EINVAL, "thread -1");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_tkill, NOBODY, SIGUSR1), ESRCH, "nobody");
}

CHECK(refuses_what_is_no_signal) {
    refuses(syscall(SYS_tkill, gettid(), 65), EINVAL, "signal 65");
}

CHECKS
