/* What a system call costs where this runs: nanoseconds per call, the best of many short batches,
 * for whatever else the machine does only adds.
 * Prints one line: getppid stat open+close. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 200 };
static const char path[] = "/usr/bin/env";

static void call_getppid(void) { syscall(SYS_getppid); }

static void call_stat(void) {
    struct stat st;
    if (stat(path, &st) < 0)
        _exit(1);
}

static void call_open(void) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        _exit(1);
    close(fd);
}

static double per_call(void (*call)(void), int calls) {
    double best = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < calls; i++)
            call();
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
        if (ns / calls < best)
            best = ns / calls;
    }
    return best;
}

int main(void) {
    double getppid_ns = per_call(call_getppid, 2000);
    double stat_ns = per_call(call_stat, 400);
    double open_ns = per_call(call_open, 400);
    printf("%.1f %.1f %.1f\n", getppid_ns, stat_ns, open_ns);
    return 0;
}
