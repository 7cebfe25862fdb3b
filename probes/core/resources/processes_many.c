/* 600 processes can exist at once. */
#define CAPABILITY "resources_processes_many"
#include "_runner_c.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void multiply(void) {
    int ends[2], number = 0, made = 0;
    if (pipe(ends) < 0)
        faulty("pipe");
    for (; made < 600 && !number; made++) {
        pid_t pid = fork();
        if (pid < 0)
            number = errno;
        if (pid == 0) { /* until the parent closes its end, whatever becomes of it */
            char byte;
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) < 0);
        }
    }
    close(ends[1]);
    while (wait(NULL) > 0)
        ;
    if (number)
        blocked_with(number, "fork");
    allowed("600 processes at once");
}

static void exercise(void) {
    in_child(multiply);
}

PROBE(exercise)
