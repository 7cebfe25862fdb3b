/* Forking is not interrupted by signals of children that end: fork(2) knows no EINTR. */
#define CAPABILITY "process_fork_under_signals"
#include "_runner_c.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(int number) {
    (void)number;
}

static void exercise(void) {
    struct sigaction action = {.sa_handler = ignore}; /* without SA_RESTART, as some shells do */
    sigaction(SIGCHLD, &action, NULL);
    for (int i = 0; i < 200; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        if (pid < 0)
            blocked("fork %d of 200", i);
    }
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    allowed("200 forks among signals");
}

PROBE(exercise)
