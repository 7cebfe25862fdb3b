/* prctl: properties of the caller, read, set and at work. */
#define CAPABILITY "syscall_prctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long control(int option, unsigned long value) {
    return syscall(SYS_prctl, option, value, 0, 0, 0);
}

/* The line of /proc/self/status with this label, as a number. */
static long status_of(const char *label, const char *format) {
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, label, strlen(label)) == 0 && line[strlen(label)] == ':')
            sscanf(line + strlen(label) + 1, format, &value);
    return value;
}

CHECK(names_the_thread) {
    char name[16] = "", seen[32] = "";
    works(control(PR_SET_NAME, (unsigned long)"sixteen-letters-and-more"), "PR_SET_NAME");
    works(control(PR_GET_NAME, (unsigned long)name), "PR_GET_NAME");
    want(strcmp(name, "sixteen-letters") == 0, "the name is %s", name);
    FILE *file = fopen("/proc/self/comm", "r");
    want(file && fgets(seen, sizeof seen, file), "/proc/self/comm");
    want(strcmp(seen, "sixteen-letters\n") == 0, "/proc says %s", seen);
}

static int alive[2];

static void leaves_a_child(void) {
    if (fork() == 0) {
        control(PR_SET_PDEATHSIG, SIGKILL);
        if (write(alive[1], "x", 1) == 1)
            waits();
    }
    char byte;
    _exit(read(alive[0], &byte, 1) == 1 ? 0 : 1);
}

CHECK(sends_a_signal_when_the_parent_dies) {
    works(pipe(alive), "pipe");
    char byte;
    want(end_of(child_that(leaves_a_child)) == 0, "no grandchild");
    close(alive[1]);
    want(read(alive[0], &byte, 1) == 0, "the grandchild lives"); /* its death closes the pipe */
}

CHECK(reports_the_signal_of_the_parents_death) {
    int signal = 0;
    works(control(PR_SET_PDEATHSIG, SIGUSR1), "PR_SET_PDEATHSIG");
    works(control(PR_GET_PDEATHSIG, (unsigned long)&signal), "PR_GET_PDEATHSIG");
    want(signal == SIGUSR1, "it is %d", signal);
}

static void leaves_an_orphan(void) {
    pid_t own = getpid();
    if (fork() == 0) {
        soon(getppid() != own);
        _exit(7);
    }
    _exit(0);
}

CHECK(adopts_orphans_if_asked) {
    int status = 0, asked = 0;
    works(control(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
    works(control(PR_GET_CHILD_SUBREAPER, (unsigned long)&asked), "PR_GET_CHILD_SUBREAPER");
    want(asked == 1, "it was not kept");
    end_of(child_that(leaves_an_orphan));
    works(wait(&status), "wait for the orphan");
    want(WEXITSTATUS(status) == 7, "another child");
}

CHECK(gives_up_new_privileges_for_good) {
    works(control(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS");
    want(control(PR_GET_NO_NEW_PRIVS, 0) == 1, "it was not kept");
    want(status_of("NoNewPrivs", "%ld") == 1, "/proc says otherwise");
    refuses(control(PR_SET_NO_NEW_PRIVS, 0), EINVAL, "taking it back");
}

CHECK(makes_the_process_opaque) {
    works(control(PR_SET_DUMPABLE, 0), "PR_SET_DUMPABLE");
    want(control(PR_GET_DUMPABLE, 0) == 0, "it was not kept");
    works(control(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
    want(control(PR_GET_DUMPABLE, 0) == 1, "it was not kept");
}

CHECK(keeps_capabilities_over_a_change_of_user_unless_that_is_locked) {
    long bits = works(control(PR_GET_SECUREBITS, 0), "PR_GET_SECUREBITS");
    if (bits & SECBIT_KEEP_CAPS_LOCKED) {
        refuses(control(PR_SET_KEEPCAPS, 1), EPERM, "PR_SET_KEEPCAPS, locked");
        return;
    }
    works(control(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
    want(control(PR_GET_KEEPCAPS, 0) == 1, "it was not kept");
    want(control(PR_GET_SECUREBITS, 0) & SECBIT_KEEP_CAPS, "no such bit");
}

CHECK(reports_the_bounding_set) {
    unsigned long bound = (unsigned long)status_of("CapBnd", "%lx");
    for (unsigned bit = 0; bit <= CAP_LAST_CAP; bit++)
        want(control(PR_CAPBSET_READ, bit) == (long)(bound >> bit & 1), "capability %u", bit);
    refuses(control(PR_CAPBSET_READ, 200), EINVAL, "capability 200");
}

CHECK(reports_and_clears_the_ambient_set) {
    works(syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear");
    want(syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0) == 0, "set");
}

CHECK(sets_the_slack_of_timers) {
    works(control(PR_SET_TIMERSLACK, 123456), "PR_SET_TIMERSLACK");
    want(control(PR_GET_TIMERSLACK, 0) == 123456, "it was not kept");
    works(control(PR_SET_TIMERSLACK, 0), "back to the default");
    want(control(PR_GET_TIMERSLACK, 0) != 123456, "not the default");
}

CHECK(turns_off_huge_pages) {
    works(control(PR_SET_THP_DISABLE, 1), "PR_SET_THP_DISABLE");
    want(control(PR_GET_THP_DISABLE, 0) == 1, "it was not kept");
}

static void is_strict(void) {
    control(PR_SET_SECCOMP, 1);
    syscall(SYS_getppid);
}

CHECK(confines_to_four_calls) {
    if (control(PR_GET_SECCOMP, 0) > 0)
        unavailable("who is under a filter already can't be");
    int status = end_of(child_that(is_strict));
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status is %#x", status);
}

CHECK(refuses_an_unknown_option) {
    refuses(control(0x7fffffff, 0), EINVAL, "option 0x7fffffff");
}

CHECK(refuses_a_bad_signal) {
    refuses(control(PR_SET_PDEATHSIG, 65), EINVAL, "signal 65");
}

CHECK(refuses_a_bad_value) {
    refuses(control(PR_SET_DUMPABLE, 7), EINVAL, "dumpable 7");
    refuses(control(PR_SET_KEEPCAPS, 2), EINVAL, "keepcaps 2");
}

CHECK(refuses_what_should_be_0) {
    refuses(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0), EINVAL, "a third argument");
    refuses(syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 1), EINVAL, "a fifth argument");
}

CHECK(refuses_a_bad_address) {
    refuses(control(PR_SET_NAME, 8), EFAULT, "a name at address 8");
    refuses(control(PR_GET_PDEATHSIG, 8), EFAULT, "a signal to address 8");
}

CHECKS
