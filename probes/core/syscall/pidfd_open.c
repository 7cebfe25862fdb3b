/* pidfd_open: a descriptor of a process. */
#define CAPABILITY "syscall_pidfd_open"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

static int open_process(pid_t pid) {
    return (int)works(syscall(SYS_pidfd_open, pid, 0), "pidfd_open");
}

CHECK(reports_when_the_process_ends) {
    pid_t child = child_that(waits);
    struct pollfd ended = {.fd = open_process(child), .events = POLLIN};
    want(poll(&ended, 1, 0) == 0, "its end was reported while it lives");
    works(kill(child, SIGKILL), "kill");
    want(poll(&ended, 1, 2000) == 1 && ended.revents & POLLIN, "its end was not reported");
    end_of(child);
}

CHECK(names_the_process_in_proc) {
    char path[64], line[128];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", open_process(getpid()));
    FILE *file = fopen(path, "r");
    want(file != NULL, "no %s", path);
    while (fgets(line, sizeof line, file))
        sscanf(line, "Pid: %d", &pid);
    want(pid == getpid(), "it says %d", pid);
}

CHECK(is_closed_by_exec) {
    want(fcntl(open_process(getpid()), F_GETFD) == FD_CLOEXEC, "it is not");
}

CHECK(does_not_wait_if_asked) {
    pid_t child = child_that(waits);
    siginfo_t info;
    int fd = (int)works(syscall(SYS_pidfd_open, child, O_NONBLOCK), "pidfd_open");
    want(fcntl(fd, F_GETFL) & O_NONBLOCK, "the flag was not kept");
    refuses(waitid(3 /* P_PIDFD */, (id_t)fd, &info, WEXITED), EAGAIN, "waitid");
}

CHECK(can_not_be_read) {
    char byte;
    refuses(read(open_process(getpid()), &byte, 1), EINVAL, "read");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_pidfd_open, NOBODY, 0), ESRCH, "pidfd_open of nobody");
}

CHECK(refuses_numbers_that_name_no_process) {
    refuses(syscall(SYS_pidfd_open, 0, 0), EINVAL, "pidfd_open 0");
    refuses(syscall(SYS_pidfd_open, -1, 0), EINVAL, "pidfd_open -1");
}

CHECK(refuses_unknown_flags) {
    refuses(syscall(SYS_pidfd_open, getpid(), 1), EINVAL, "flag 1");
}

CHECKS
