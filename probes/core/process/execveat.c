/* A program can be run from an open descriptor (execveat). */
#define CAPABILITY "process_execveat"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    char *arguments[] = {"true", NULL}, *environment[] = {NULL};
    int status, program = open("/bin/true", O_PATH | O_CLOEXEC);
    if (program < 0)
        blocked("open /bin/true");
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
        _exit(errno);
    }
    waitpid(pid, &status, 0);
    if (status)
        blocked_with(WEXITSTATUS(status), "execveat");
    allowed("ran /bin/true by its descriptor");
}

PROBE(exercise)
