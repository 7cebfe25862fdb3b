/* signalfd: signals read from a descriptor. */
#define CAPABILITY "syscall_signalfd"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_signalfd
static struct signalfd_siginfo got;
static unsigned long usr1 = 1ul << (SIGUSR1 - 1), usr2 = 1ul << (SIGUSR2 - 1);

static int receiver(unsigned long mask) {
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8), "rt_sigprocmask");
    return (int)works(syscall(SYS_signalfd, -1, &mask, 8), "signalfd");
}

CHECK(gives_a_signal_and_its_sender) {
    int fd = receiver(usr1);
    kill(getpid(), SIGUSR1);
    want(works(read(fd, &got, sizeof got), "read") == sizeof got, "not one");
    want(got.ssi_signo == SIGUSR1 && got.ssi_pid == (unsigned)getpid(), "another signal");
}

CHECK(has_no_flags) {
    int fd = receiver(usr1);
    want(fcntl(fd, F_GETFD) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "it has some");
}

CHECK(is_not_ready_for_other_signals) {
    struct pollfd one = {.fd = receiver(usr1), .events = POLLIN};
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &usr2, NULL, 8), "rt_sigprocmask");
    raise(SIGUSR2);
    want(poll(&one, 1, 0) == 0, "ready");
}

CHECK(changes_the_signals_of_a_descriptor) {
    int fd = receiver(usr1 | usr2);
    want(works(syscall(SYS_signalfd, fd, &usr2, 8), "signalfd") == fd, "another descriptor");
    raise(SIGUSR1);
    raise(SIGUSR2);
    want(read(fd, &got, sizeof got) == sizeof got && got.ssi_signo == SIGUSR2, "not changed");
}

CHECK(refuses_a_mask_of_another_size) {
    refuses(syscall(SYS_signalfd, -1, &usr1, 4), EINVAL, "a mask of 4 bytes");
}

CHECK(refuses_descriptors_of_another_kind) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(syscall(SYS_signalfd, 999, &usr1, 8), EBADF, "a closed one");
    refuses(syscall(SYS_signalfd, ends[0], &usr1, 8), EINVAL, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_signalfd, -1, (void *)8, 8), EFAULT, "a mask at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no signalfd");
}
#endif

CHECKS
