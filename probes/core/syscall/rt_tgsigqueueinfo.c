/* rt_tgsigqueueinfo: a signal with data to a thread. */
#define CAPABILITY "syscall_rt_tgsigqueueinfo"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
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

static long queue(pid_t pid, pid_t tid, int signal, void *info) {
    return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info);
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
    works(queue(getpid(), gettid(), SIGUSR1, &sent), "rt_tgsigqueueinfo");
    want(heard == SIGUSR1, "not heard");
    want(got.si_code == SI_QUEUE && got.si_value.sival_int == 4242, "other data received");
}

CHECK(lets_the_caller_say_anything_to_itself) {
    listen();
    prepare(SI_USER);
    works(queue(getpid(), gettid(), SIGUSR1, &sent), "rt_tgsigqueueinfo");
    want(got.si_code == SI_USER, "the code is %d", got.si_code);
}

CHECK(reaches_a_child) {
    prepare(SI_QUEUE);
    pid_t child = child_that(waits);
    works(queue(child, child, SIGUSR1, &sent), "rt_tgsigqueueinfo");
    want(WTERMSIG(end_of(child)) == SIGUSR1, "another end");
}

CHECK(refuses_to_pass_for_the_kernel) {
    pid_t child = child_that(waits);
    prepare(SI_USER);
    refuses(queue(child, child, SIGUSR1, &sent), EPERM, "the code of kill");
    prepare(SI_TKILL);
    refuses(queue(child, child, SIGUSR1, &sent), EPERM, "the code of tkill");
}

CHECK(refuses_nobody) {
    prepare(SI_QUEUE);
    refuses(queue(getpid(), NOBODY, SIGUSR1, &sent), ESRCH, "nobody");
}

CHECK(refuses_what_is_no_signal) {
    prepare(SI_QUEUE);
    refuses(queue(getpid(), gettid(), 65, &sent), EINVAL, "signal 65");
}

CHECK(refuses_a_bad_address) {
    refuses(queue(getpid(), gettid(), SIGUSR1, (void *)8), EFAULT, "data at address 8");
}

static volatile pid_t hearer, thread_id;

static void note(int signal, siginfo_t *info, void *context) {
    hear(signal, info, context);
    hearer = gettid();
}

static void *live(void *unused) {
    thread_id = gettid();
    for (int i = 0; i < 2000 && !hearer; i++)
        rest();
    return unused;
}

CHECK(reaches_that_thread_and_no_other) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    works(sigaction(SIGUSR1, &action, NULL), "sigaction");
    want(pthread_create(&thread, NULL, live, NULL) == 0, "no thread");
    want(soon(thread_id), "it does not begin");
    prepare(SI_QUEUE);
    works(queue(getpid(), thread_id, SIGUSR1, &sent), "to the thread");
    want(soon(hearer) && hearer == thread_id, "thread %d heard it", hearer);
}

CHECK(refuses_a_thread_of_another_process) {
    pid_t child = child_that(waits);
    prepare(SI_QUEUE);
    refuses(queue(getpid(), child, SIGUSR1, &sent), ESRCH, "a child");
}

CHECK(refuses_numbers_that_name_no_process) {
    prepare(SI_QUEUE);
    refuses(queue(0, gettid(), SIGUSR1, &sent), EINVAL, "process 0");
    refuses(queue(getpid(), -1, SIGUSR1, &sent), EINVAL, "thread -1");
}

CHECKS
