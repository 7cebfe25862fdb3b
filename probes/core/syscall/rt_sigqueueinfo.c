/* rt_sigqueueinfo: a signal with data to a process. */
#define CAPABILITY "syscall_rt_sigqueueinfo"
#include "_runner_c.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

static siginfo_t sent, got;
static volatile int heard;

static void hear(int signal, siginfo_t *info, void *context) {
    (void)context;
    got = *info;
    heard = signal;
}

static void listen(void) {
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    works(sigaction(SIGUSR1, &action, NULL), "sigaction");
}

static void prepare(int code) {
    sent = (siginfo_t){.si_signo = SIGUSR1, .si_code = code};
    sent.si_pid = getpid();
    sent.si_uid = getuid();
    sent.si_value.sival_int = 4242;
}

CHECK(hands_over_what_was_sent) {
    listen();
    prepare(SI_QUEUE);
    works(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &sent), "rt_sigqueueinfo");
    want(heard == SIGUSR1, "not heard");
    want(got.si_code == SI_QUEUE && got.si_value.sival_int == 4242, "other data received");
}

CHECK(lets_the_caller_say_anything_to_itself) {
    listen();
    prepare(SI_USER);
    works(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &sent), "rt_sigqueueinfo");
    want(got.si_code == SI_USER, "the code is %d", got.si_code);
}

CHECK(reaches_a_child) {
    prepare(SI_QUEUE);
    pid_t child = child_that(waits);
    works(syscall(SYS_rt_sigqueueinfo, child, SIGUSR1, &sent), "rt_sigqueueinfo");
    want(WTERMSIG(end_of(child)) == SIGUSR1, "another end");
}

CHECK(refuses_to_pass_for_the_kernel) {
    pid_t child = child_that(waits);
    prepare(SI_USER);
    refuses(syscall(SYS_rt_sigqueueinfo, child, SIGUSR1, &sent), EPERM, "the code of kill");
    prepare(SI_TKILL);
    refuses(syscall(SYS_rt_sigqueueinfo, child, SIGUSR1, &sent), EPERM, "the code of tkill");
}

CHECK(refuses_nobody) {
    prepare(SI_QUEUE);
    refuses(syscall(SYS_rt_sigqueueinfo, NOBODY, SIGUSR1, &sent), ESRCH, "nobody");
}

CHECK(refuses_what_is_no_signal) {
    prepare(SI_QUEUE);
    refuses(syscall(SYS_rt_sigqueueinfo, getpid(), 65, &sent), EINVAL, "signal 65");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, 8), EFAULT, "data at address 8");
}

CHECK(queues_real_time_signals_and_no_more_than_the_limit) {
    struct rlimit few = {16, 16};
    sigset_t set;
    int count = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    works(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
    works(setrlimit(RLIMIT_SIGPENDING, &few), "setrlimit");
    prepare(SI_QUEUE);
    while (count <= 16 && syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &sent) == 0)
        count++;
    want(count <= 16 && errno == EAGAIN, "%d were queued", count);
}

CHECKS
