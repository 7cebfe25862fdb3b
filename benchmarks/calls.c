/* What a system call costs where this runs: nanoseconds per call, the median of many batches.
 * Prints one line: getppid stat open+close. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 41 };
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

static int smaller(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double per_call(void (*call)(void), int calls) {
    double batches[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < calls; i++)
            call();
        clock_gettime(CLOCK_MONOTONIC, &to);
        batches[batch] =
            ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / calls;
    }
    qsort(batches, BATCHES, sizeof *batches, smaller);
    return batches[BATCHES / 2];
}

int main(void) {
    double getppid_ns = per_call(call_getppid, 5000);
    double stat_ns = per_call(call_stat, 1000);
    double open_ns = per_call(call_open, 1000);
    printf("%.1f %.1f %.1f\n", getppid_ns, stat_ns, open_ns);
    return 0;
}
