/* A program can be run that never was a file with a name (memfd_create, fexecve). */
#define CAPABILITY "memory_memfd_execute"
#include "_runner_c.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    char *arguments[] = {"true", NULL}, *environment[] = {NULL};
    int status, program = open("/bin/true", O_RDONLY | O_CLOEXEC);
    int copy = memfd_create("probe", MFD_CLOEXEC);
    if (copy < 0)
        blocked("memfd_create");
    while (sendfile(copy, program, NULL, 1 << 20) > 0)
        ;
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        fexecve(copy, arguments, environment);
        _exit(errno);
    }
    waitpid(pid, &status, 0);
    if (status)
        blocked_with(WEXITSTATUS(status), "fexecve");
    allowed("ran a copy of /bin/true in memory");
}

PROBE(exercise)
