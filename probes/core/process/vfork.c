/* A child can borrow its parent's memory until it runs a program (vfork). */
#define CAPABILITY "process_vfork"
#include "_runner_c.h"

#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    int status;
    pid_t pid = vfork();
    if (pid < 0)
        blocked("vfork");
    if (pid == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        blocked_with(0, "the program did not run");
    allowed("ran /bin/true");
}

PROBE(exercise)
