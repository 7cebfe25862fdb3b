/* pidfd_send_signal: a signal by a descriptor of a process. */
#define CAPABILITY "syscall_pidfd_send_signal"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int heard, value;

static void hear(int signal, siginfo_t *info, void *context) {
    (void)context;
    heard = signal;
    value = info->si_value.sival_int;
}

static int open_process(pid_t pid) {
    return (int)works(syscall(SYS_pidfd_open, pid, 0), "pidfd_open");
}

static long send(int fd, int signal, siginfo_t *info) {
    return syscall(SYS_pidfd_send_signal, fd, signal, info, 0);
}

CHECK(ends_a_child) {
    pid_t child = child_that(waits);
    works(send(open_process(child), SIGTERM, NULL), "pidfd_send_signal");
    want(WTERMSIG(end_of(child)) == SIGTERM, "another end");
}

CHECK(hands_over_data) {
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
    info.si_value.sival_int = 4242;
    works(sigaction(SIGUSR1, &action, NULL), "sigaction");
    works(send(open_process(getpid()), SIGUSR1, &info), "pidfd_send_signal");
    want(heard == SIGUSR1 && value == 4242, "heard %d with %d", heard, value);
}

CHECK(of_signal_0_asks_whether_it_is_there) {
    pid_t child = child_that(waits);
    int fd = open_process(child);
    works(send(fd, 0, NULL), "signal 0");
    works(kill(child, SIGKILL), "kill");
    end_of(child);
    refuses(send(fd, 0, NULL), ESRCH, "signal 0 to who was waited for");
}

CHECK(refuses_what_is_no_process_descriptor) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(send(ends[0], 0, NULL), EBADF, "a pipe");
    refuses(send(-1, 0, NULL), EBADF, "descriptor -1");
}

CHECK(refuses_what_is_no_signal) {
    refuses(send(open_process(getpid()), 65, NULL), EINVAL, "signal 65");
}

CHECK(refuses_data_of_another_signal) {
    siginfo_t info = {.si_signo = SIGUSR2, .si_code = SI_QUEUE};
    refuses(send(open_process(getpid()), SIGUSR1, &info), EINVAL, "data of SIGUSR2");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_pidfd_send_signal, open_process(getpid()), 0, NULL, 0x100), EINVAL,
            "flag 0x100");
}

CHECK(refuses_a_bad_address) {
    refuses(send(open_process(getpid()), SIGUSR1, (siginfo_t *)8), EFAULT, "data at address 8");
}

CHECKS
