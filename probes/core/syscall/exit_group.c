/* exit_group: the end of a process. */
#define CAPABILITY "syscall_exit_group"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void ends_with_7(void) {
    syscall(SYS_exit_group, 7);
}

static void ends_with_minus_1(void) {
    syscall(SYS_exit_group, -1);
}

CHECK(gives_the_exit_code) {
    int status = end_of(child_that(ends_with_7));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status is %#x", status);
}

CHECK(keeps_the_low_byte) {
    int status = end_of(child_that(ends_with_minus_1));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 255, "status is %#x", status);
}

static void *end(void *unused) {
    syscall(SYS_exit_group, 8);
    return unused;
}

static void ends_from_a_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, end, NULL) == 0)
        waits();
}

CHECK(ends_all_threads) {
    int status = end_of(child_that(ends_from_a_thread));
    want(WIFEXITED(status) && WEXITSTATUS(status) == 8, "status is %#x", status);
}

CHECK(closes_descriptors) {
    char byte;
    works(pipe(ends), "pipe");
    pid_t child = child_that(ends_with_7);
    close(ends[1]);
    want(read(ends[0], &byte, 1) == 0, "no end of file");
    end_of(child);
}

static void prints_and_ends(void) {
    dup2(ends[1], STDOUT_FILENO);
    printf("kept in a buffer");
    syscall(SYS_exit_group, 0);
}

CHECK(asks_the_program_nothing) {
    char bytes[32];
    works(pipe(ends), "pipe");
    end_of(child_that(prints_and_ends));
    close(ends[1]);
    want(read(ends[0], bytes, sizeof bytes) == 0, "buffers were written");
}

static volatile int heard;

static void hear(int signal) {
    heard = signal;
}

CHECK(is_reported_by_SIGCHLD) {
    signal(SIGCHLD, hear);
    end_of(child_that(ends_with_7));
    want(soon(heard == SIGCHLD), "no SIGCHLD");
}

CHECKS
