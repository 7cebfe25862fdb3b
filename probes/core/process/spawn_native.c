/* A program can be started and its output read (posix_spawn). */
#define CAPABILITY "process_spawn"
#include "_runner_c.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    char *arguments[] = {"echo", "hello", NULL}, *environment[] = {NULL}, text[16] = "";
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid;
    if (pipe(ends) < 0)
        blocked("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    int number = posix_spawn(&pid, "/bin/echo", &actions, NULL, arguments, environment);
    if (number)
        blocked_with(number, "posix_spawn");
    waitpid(pid, NULL, 0);
    if (read(ends[0], text, sizeof text - 1) < 0 || strcmp(text, "hello\n") != 0)
        faulty("echo said something else");
    allowed("echo said hello");
}

PROBE(exercise)
