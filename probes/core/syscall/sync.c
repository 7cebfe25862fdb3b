/* sync: everything written out, which may take long and never fails. */
#define CAPABILITY "syscall_sync"
#include "_runner_c.h"

#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

CHECK(comes_back_without_a_word) {
    int ends[2];
    char answer[8] = "";
    works(pipe(ends), "pipe");
    if (fork() == 0) { /* of its own: a busy disk may hold it for long, and nothing can end it */
        int silent = syscall(SYS_sync) == 0;
        _exit(write(ends[1], silent ? "done" : strerror(errno), silent ? 4 : 7) < 0);
    }
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    if (poll(&ready, 1, 3000) == 0)
        unavailable("the disks of this machine are busy");
    works(read(ends[0], answer, sizeof answer), "read");
    wait(NULL);
    want(memcmp(answer, "done", 4) == 0, "sync failed: %.7s", answer);
}

CHECKS
