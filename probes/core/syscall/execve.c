/* execve: another program in the process, what it keeps and what it loses. */
#define CAPABILITY "syscall_execve"
#include "_runner_c.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *environment[] = {"FRUIT=pear", NULL};

static long run(const char *path, char *const arguments[]) {
    return syscall(SYS_execve, path, arguments, environment);
}

/* The exit code of a shell that runs this; it has the caller's number as $1. */
static int shell(const char *script, void (*before)(void)) {
    char own[16];
    pid_t pid = fork();
    if (pid == 0) {
        if (before)
            before();
        snprintf(own, sizeof own, "%d", (int)getpid());
        char *arguments[] = {"sh", "-c", (char *)script, "sh", own, NULL};
        works(run("/bin/sh", arguments), "execve /bin/sh");
    }
    int status = end_of((int)works(pid, "fork"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A file with these bytes and this mode. */
static const char *file(const char *bytes, mode_t mode) {
    static char path[512];
    strcpy(path, scratch("execve"));
    int fd = (int)works(open(path, O_CREAT | O_WRONLY | O_EXCL, 0600), "open");
    works(write(fd, bytes, strlen(bytes)), "write");
    works(fchmod(fd, mode), "fchmod");
    close(fd);
    return path;
}

/* Refused with this errno; a file of ours is taken away. */
static void refused(const char *path, int number, int remove) {
    char *arguments[] = {"x", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        run(path, arguments);
        _exit(errno);
    }
    int status = end_of((int)works(pid, "fork"));
    if (remove)
        unlink(path);
    errno = WEXITSTATUS(status);
    refuses(status ? -1 : 0, number, path);
}

CHECK(runs_a_program_in_its_place) {
    want(shell("exit 42", NULL) == 42, "another end");
}

CHECK(hands_over_arguments) {
    pid_t pid = fork();
    char *arguments[] = {"name", "-c", "test \"$0 $1 $#\" = 'a b c 2'", "a", "b c", "", NULL};
    if (pid == 0)
        works(run("/bin/sh", arguments), "execve");
    want(end_of((int)works(pid, "fork")) == 0, "other arguments");
}

CHECK(hands_over_the_environment_and_no_other) {
    setenv("VEGETABLE", "leek", 1);
    want(shell("test \"$FRUIT-$VEGETABLE\" = pear-", NULL) == 0, "another environment");
}

CHECK(keeps_the_processs_number) {
    want(shell("test $$ = $1", NULL) == 0, "another process");
}

static int kept, lost;

static void open_two(void) {
    kept = (int)works(dup2((int)works(open("/dev/null", O_RDONLY), "open"), 8), "dup2");
    lost = (int)works(dup3(kept, 9, O_CLOEXEC), "dup3");
}

CHECK(keeps_descriptors_but_those_to_be_closed) {
    want(shell("test -e /proc/self/fd/8 && ! test -e /proc/self/fd/9", open_two) == 0,
         "other descriptors");
}

static void heard(int signal) {
    (void)signal;
}

static void handle_and_ignore(void) {
    signal(SIGUSR1, heard);
    signal(SIGUSR2, SIG_IGN);
}

CHECK(resets_handlers_and_keeps_what_is_ignored) {
    want(shell("kill -USR2 $$; exit 3", handle_and_ignore) == 3, "SIGUSR2 is not ignored");
    want(shell("kill -USR1 $$; exit 3", handle_and_ignore) == -1, "SIGUSR1 does not end it");
}

static void go_elsewhere(void) {
    works(chdir("/proc"), "chdir");
    umask(027);
}

CHECK(keeps_directory_and_umask) {
    want(shell("test \"$(pwd) $(umask)\" = '/proc 0027'", go_elsewhere) == 0, "others");
}

static void *wait_forever(void *unused) {
    waits();
    return unused;
}

static void start_a_thread(void) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, wait_forever, NULL) == 0, "no thread");
}

CHECK(ends_the_other_threads) {
    want(shell("test \"$(echo /proc/$$/task/*)\" = /proc/$$/task/$$", start_a_thread) == 0,
         "threads are left");
}

static void *run_from_here(void *script) {
    char *arguments[] = {"sh", "-c", script, NULL};
    run("/bin/sh", arguments);
    return NULL;
}

static void run_from_a_thread(void) {
    pthread_t thread;
    want(pthread_create(&thread, NULL, run_from_here, "exit 5") == 0, "no thread");
    waits();
}

CHECK(takes_the_processs_number_in_a_thread) {
    want(WEXITSTATUS(end_of(child_that(run_from_a_thread))) == 5, "another end");
}

CHECK(runs_a_script_by_its_first_line) {
    const char *path = file("#!/bin/sh -e\ntest \"$1\" = pear; exit 6\n", 0700);
    char *arguments[] = {"ignored", "pear", NULL};
    pid_t pid = fork();
    if (pid == 0)
        works(run(path, arguments), "execve of a script");
    int status = end_of((int)works(pid, "fork"));
    unlink(path);
    want(WEXITSTATUS(status) == 6, "another end");
}

CHECK(refuses_what_is_not_there) {
    refused("/nowhere/at/all", ENOENT, 0);
    refused("", ENOENT, 0);
}

CHECK(refuses_a_file_without_the_right) {
    refused(file("#!/bin/sh\n", 0600), EACCES, 1);
}

CHECK(refuses_a_directory) {
    refused("/proc", EACCES, 0);
}

CHECK(refuses_a_file_as_directory) {
    refused("/bin/sh/x", ENOTDIR, 0);
}

CHECK(refuses_what_is_no_program) {
    refused(file("nothing to run\n", 0700), ENOEXEC, 1);
    refused(file("", 0700), ENOEXEC, 1);
}

CHECK(refuses_a_script_whose_interpreter_is_not_there) {
    refused(file("#!/nowhere/at/all\n", 0700), ENOENT, 1);
}

CHECK(refuses_a_script_that_is_its_own_interpreter) {
    char text[600];
    const char *path = file("", 0700);
    int fd = (int)works(open(path, O_WRONLY), "open");
    snprintf(text, sizeof text, "#!%s\n", path);
    works(write(fd, text, strlen(text)), "write");
    close(fd);
    refused(path, ELOOP, 1);
}

CHECK(refuses_a_file_that_is_being_written) {
    const char *path = file("#!/bin/sh\n", 0700);
    works(open(path, O_WRONLY), "open");
    refused(path, ETXTBSY, 1);
}

CHECK(refuses_a_long_argument) {
    static char text[256 * 1024];
    memset(text, 'x', sizeof text - 1);
    char *arguments[] = {"true", text, NULL};
    refuses(run("/bin/true", arguments), E2BIG, "an argument of 256 KiB");
}

CHECK(refuses_a_long_name) {
    static char path[5000];
    memset(path, 'x', sizeof path - 1);
    refused(path, ENAMETOOLONG, 0);
}

CHECK(refuses_a_bad_address) {
    char *arguments[] = {"true", NULL};
    refuses(run((char *)8, arguments), EFAULT, "a path at address 8");
    refuses(syscall(SYS_execve, "/bin/true", 8, environment), EFAULT, "arguments at address 8");
}

CHECKS
