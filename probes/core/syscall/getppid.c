/* getppid: the number of the parent, and of who adopts an orphan. */
#define CAPABILITY "syscall_getppid"
#include "_runner_c.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t parent;

static void compares(void) {
    _exit(syscall(SYS_getppid) == parent ? 0 : 1);
}

CHECK(is_who_forked) {
    parent = getpid();
    want(end_of(child_that(compares)) == 0, "another parent");
}

static void leaves_an_orphan(void) {
    pid_t own = getpid();
    if (fork() == 0) {
        if (!soon(syscall(SYS_getppid) != own))
            _exit(1);
        _exit(syscall(SYS_getppid) == parent ? 7 : 2);
    }
    _exit(0);
}

CHECK(becomes_who_adopts_an_orphan) {
    parent = getpid();
    works(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER");
    end_of(child_that(leaves_an_orphan));
    int status = 0;
    works(wait(&status), "wait for the orphan");
    want(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the orphan's parent is another");
}

CHECK(takes_no_heed_of_arguments) {
    want(syscall(SYS_getppid, -1, -1, -1) == syscall(SYS_getppid), "another answer");
}

CHECKS
