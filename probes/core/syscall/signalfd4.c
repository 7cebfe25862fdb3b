/* signalfd4: signals read from a descriptor, with their data. */
#define CAPABILITY "syscall_signalfd4"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct signalfd_siginfo got[4];
static unsigned long usr1 = 1ul << (SIGUSR1 - 1), usr2 = 1ul << (SIGUSR2 - 1);

/* A descriptor for these signals, which are blocked. */
static int receiver(unsigned long mask) {
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8), "rt_sigprocmask");
    return (int)works(syscall(SYS_signalfd4, -1, &mask, 8, SFD_NONBLOCK), "signalfd4");
}

CHECK(gives_a_signal_and_its_sender) {
    int fd = receiver(usr1);
    kill(getpid(), SIGUSR1);
    want(works(read(fd, got, sizeof got), "read") == sizeof *got, "not one");
    want(got[0].ssi_signo == SIGUSR1 && got[0].ssi_code == SI_USER, "another signal");
    want(got[0].ssi_pid == (unsigned)getpid() && got[0].ssi_uid == getuid(), "another sender");
}

CHECK(gives_the_value_that_was_sent) {
    int fd = receiver(usr1);
    works(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}), "sigqueue");
    works(read(fd, got, sizeof got), "read");
    want(got[0].ssi_int == 42 && got[0].ssi_code == SI_QUEUE, "another value");
}

CHECK(gives_several_at_once) {
    int fd = receiver(usr1 | usr2);
    raise(SIGUSR1);
    raise(SIGUSR2);
    want(works(read(fd, got, sizeof got), "read") == 2 * sizeof *got, "not two");
}

CHECK(takes_the_signal_away) {
    sigset_t waiting;
    int fd = receiver(usr1);
    raise(SIGUSR1);
    works(read(fd, got, sizeof got), "read");
    sigpending(&waiting);
    want(!sigismember(&waiting, SIGUSR1), "still pending");
    refuses(read(fd, got, sizeof got), EAGAIN, "a second read");
}

CHECK(can_be_waited_on) {
    struct pollfd one = {.fd = receiver(usr1), .events = POLLIN};
    want(poll(&one, 1, 0) == 0, "ready too early");
    raise(SIGUSR1);
    want(poll(&one, 1, 0) == 1 && one.revents == POLLIN, "not ready");
}

CHECK(reports_how_a_child_ended) {
    int fd = receiver(1ul << (SIGCHLD - 1));
    struct pollfd one = {.fd = fd, .events = POLLIN};
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(7);
    want(poll(&one, 1, 3000) == 1, "no signal");
    works(read(fd, got, sizeof got), "read");
    waitpid(child, NULL, 0);
    want(got[0].ssi_pid == (unsigned)child && got[0].ssi_status == 7, "another child");
    want(got[0].ssi_code == CLD_EXITED, "another end");
}

CHECK(changes_the_signals_of_a_descriptor) {
    int fd = receiver(usr1);
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &usr2, NULL, 8), "rt_sigprocmask");
    want(works(syscall(SYS_signalfd4, fd, &usr2, 8, 0), "signalfd4") == fd, "another descriptor");
    raise(SIGUSR1);
    refuses(read(fd, got, sizeof got), EAGAIN, "read of a signal no longer asked for");
    raise(SIGUSR2);
    want(read(fd, got, sizeof got) == sizeof *got && got[0].ssi_signo == SIGUSR2, "not changed");
}

CHECK(sets_the_flags_asked_for) {
    int fd = (int)works(syscall(SYS_signalfd4, -1, &usr1, 8, SFD_CLOEXEC | SFD_NONBLOCK), "it");
    want(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK, "not set");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_signalfd4, -1, &usr1, 8, 1), EINVAL, "flag 1");
}

CHECK(refuses_a_mask_of_another_size) {
    refuses(syscall(SYS_signalfd4, -1, &usr1, 4, 0), EINVAL, "a mask of 4 bytes");
}

CHECK(refuses_descriptors_of_another_kind) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_signalfd4, 999, &usr1, 8, 0), EBADF, "a closed one");
    refuses(syscall(SYS_signalfd4, ends[0], &usr1, 8, 0), EINVAL, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_signalfd4, -1, (void *)8, 8, 0), EFAULT, "a mask at 8");
}

CHECK(refuses_too_little_room) {
    int fd = receiver(usr1);
    raise(SIGUSR1);
    refuses(read(fd, got, 8), EINVAL, "read of 8 bytes");
}

CHECKS
