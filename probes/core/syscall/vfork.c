/* vfork: a child in its parent's memory, until it runs a program or ends. */
#define CAPABILITY "syscall_vfork"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SYS_vfork
/* libc's vfork is the call itself: made through syscall(), the child would spoil the parent's
 * stack. */
static volatile int number;

CHECK(starts_a_child) {
    pid_t parent = getpid(), pid = vfork();
    if (pid == 0)
        _exit(getppid() == parent && getpid() != parent ? 7 : 1);
    want(WEXITSTATUS(end_of((int)works(pid, "vfork"))) == 7, "no child of this process");
}

CHECK(shares_memory) {
    pid_t pid = vfork();
    if (pid == 0) {
        number = 5;
        _exit(0);
    }
    works(pid, "vfork");
    want(number == 5, "the child's change is not seen");
    end_of(pid);
}

CHECK(waits_for_the_childs_end) {
    pid_t pid = vfork();
    if (pid == 0) {
        usleep(50000);
        number = 6;
        _exit(0);
    }
    works(pid, "vfork");
    want(number == 6, "the parent went on before the child ended");
    end_of(pid);
}

CHECK(waits_for_the_childs_program) {
    int ends[2];
    works(pipe2(ends, O_CLOEXEC), "pipe2");
    pid_t pid = vfork();
    if (pid == 0) {
        usleep(20000);
        number = 7;
        execl("/bin/sh", "sh", "-c", "kill -STOP $$", NULL);
        _exit(1);
    }
    works(pid, "vfork");
    want(number == 7, "the parent went on before the child's program");
    int status;
    want(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "no program ran");
    kill(pid, SIGKILL);
    end_of(pid);
}

CHECK(goes_on_when_the_child_is_killed) {
    pid_t pid = vfork();
    if (pid == 0) {
        kill(getpid(), SIGKILL);
        _exit(0);
    }
    want(WTERMSIG(end_of((int)works(pid, "vfork"))) == SIGKILL, "not killed");
}

CHECK(copies_descriptors) {
    int fd = (int)works(open("/dev/null", O_RDONLY), "open");
    pid_t pid = vfork();
    if (pid == 0)
        _exit(close(fd) == 0 ? 0 : 1);
    want(end_of((int)works(pid, "vfork")) == 0, "the child does not have it");
    works(fcntl(fd, F_GETFD), "fcntl after the child closed its own");
}

CHECK(copies_the_directory) {
    char here[64];
    works(chdir("/"), "chdir");
    pid_t pid = vfork();
    if (pid == 0)
        _exit(chdir("/proc") == 0 ? 0 : 1);
    want(end_of((int)works(pid, "vfork")) == 0, "no chdir in the child");
    want(getcwd(here, sizeof here) && here[1] == 0, "the parent went along");
}

CHECK(copies_signal_handlers) {
    struct sigaction action;
    pid_t pid = vfork();
    if (pid == 0) {
        signal(SIGUSR1, SIG_IGN);
        _exit(0);
    }
    end_of((int)works(pid, "vfork"));
    works(sigaction(SIGUSR1, NULL, &action), "sigaction");
    want(action.sa_handler == SIG_DFL, "the child's handler is the parent's");
}

CHECK(leaves_the_failure_of_a_program_to_the_child) {
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/nowhere/at/all", "x", NULL);
        number = errno;
        _exit(127);
    }
    want(WEXITSTATUS(end_of((int)works(pid, "vfork"))) == 127, "no failure");
    want(number == ENOENT, "another error");
}

static void heard(int signal) {
    number = signal;
}

CHECK(keeps_signals_until_the_child_is_done) {
    signal(SIGUSR1, heard);
    pid_t parent = getpid(), pid = vfork();
    if (pid == 0) {
        kill(parent, SIGUSR1);
        _exit(number ? 1 : 0);
    }
    want(end_of((int)works(pid, "vfork")) == 0, "the parent ran meanwhile");
    want(soon(number == SIGUSR1), "the signal was lost");
}

CHECK(reports_the_end_by_SIGCHLD) {
    signal(SIGCHLD, heard);
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    end_of((int)works(pid, "vfork"));
    want(soon(number == SIGCHLD), "no SIGCHLD");
}

CHECK(refuses_more_than_the_limit) {
    struct rlimit none = {0, 0};
    if (geteuid() == 0 && !holds(CAP_SETUID))
        unavailable("root is not bound by the limit");
    if (geteuid() == 0)
        works(syscall(SYS_setresuid, 65534, 65534, 65534), "setresuid");
    works(setrlimit(RLIMIT_NPROC, &none), "setrlimit");
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    refuses(pid, EAGAIN, "vfork beyond RLIMIT_NPROC");
}
#else
CHECK(is_asked_of_clone_here) {
    unavailable("this architecture has clone only");
}
#endif

CHECKS
