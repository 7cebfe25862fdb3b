/* process_mrelease: the memory of a process that is dying, freed sooner. */
#define CAPABILITY "syscall_process_mrelease"
#include "_runner_c.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif

/* A child that has touched some memory and waits. */
static pid_t child_of_some_size(void) {
    int ends[2];
    char byte;
    works(pipe(ends), "pipe");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        struct sched_param least = {0};
        size_t size = 32 << 20;
        char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            _exit(1);
        memset(at, 1, size);
        sched_setscheduler(0, SCHED_IDLE, &least);
        if (write(ends[1], "x", 1) == 1)
            sleep(3);
        _exit(0);
    }
    close(ends[1]);
    works(read(ends[0], &byte, 1), "read");
    close(ends[0]);
    return child;
}

/* The child may be gone before its memory is asked for: several are tried. On one processor, the
 * killer goes on first. */
CHECK(frees_the_memory_of_who_was_killed) {
    long released = -1;
    int status = 0, number = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 20 && released < 0; i++) {
        pid_t child = child_of_some_size();
        int fd = (int)works(syscall(SYS_pidfd_open, child, 0), "pidfd_open");
        kill(child, SIGKILL);
        released = syscall(SYS_process_mrelease, fd, 0);
        number = errno;
        waitpid(child, &status, 0);
        close(fd);
        if (released < 0 && number != ESRCH)
            break;
    }
    errno = number;
    works(released, "process_mrelease");
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it did not end by the signal");
}

CHECK(refuses_who_is_not_dying) {
    int fd = (int)works(syscall(SYS_pidfd_open, getpid(), 0), "pidfd_open");
    refuses(syscall(SYS_process_mrelease, fd, 0), EINVAL, "of itself");
}

CHECK(refuses_who_is_gone) {
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(0);
    int fd = (int)works(syscall(SYS_pidfd_open, child, 0), "pidfd_open");
    siginfo_t info;
    works(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), "waitid");
    long result = syscall(SYS_process_mrelease, fd, 0);
    int number = errno;
    waitpid(child, NULL, 0);
    errno = number;
    refuses(result, ESRCH, "of who ended");
}

CHECK(refuses_unknown_flags) {
    int fd = (int)works(syscall(SYS_pidfd_open, getpid(), 0), "pidfd_open");
    refuses(syscall(SYS_process_mrelease, fd, 1), EINVAL, "flag 1");
}

CHECK(refuses_what_is_no_process) {
    refuses(syscall(SYS_process_mrelease, -1, 0), EBADF, "-1");
}

CHECKS
