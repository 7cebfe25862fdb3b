/* What a specimen that `wardian probe fuzz` wrote needs beside _runner_c.h: the fuzzer's scratch
 * directory and memory, and calls that answer as the kernel does: -errno where they fail.
 *
 * The calls run in a child, as an ordinary user even for root, in a directory that is removed again.
 * Allowed means: as the host's kernel answered when it was written. Blocked: otherwise.
 */
#ifndef WARDIAN_RUNNER_FUZZ_H
#define WARDIAN_RUNNER_FUZZ_H

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUZZ_MEMORY 0x20000000L
#define FUZZ_REGION 0x40000000L
#define FUZZ_PAGE 4096L
#define FUZZ_WAIT_MS 1500
#define FUZZ_FORKED 7
#define AT(place) (FUZZ_MEMORY + (place))
#define WORD_AT(place) ((long)*(int *)(FUZZ_MEMORY + (place)))

struct fuzz_verdict {
    int complete, same, number;
    char detail[200];
};
static int fuzz_told = -1;
static pid_t fuzz_self;

__attribute__((noreturn)) static inline void fuzz_tell(int same, int number, const char *detail) {
    struct fuzz_verdict verdict = {.complete = 1, .same = same, .number = number};
    snprintf(verdict.detail, sizeof verdict.detail, "%s", detail);
    _exit(write(fuzz_told, &verdict, sizeof verdict) == sizeof verdict ? 0 : 1);
}

__attribute__((unused)) static long fuzz_call(long number, long a, long b, long c, long d, long e, long f) {
    long result = syscall(number, a, b, c, d, e, f);
    int failed = errno;
    if (result == 0 && syscall(SYS_getpid) != fuzz_self)
        _exit(FUZZ_FORKED);
    return result == -1 ? -failed : result;
}

__attribute__((unused)) static void fuzz_put(long place, const char *data, size_t size) {
    memcpy((char *)FUZZ_MEMORY + place, data, size);
}

/* The call answered so natively: this errno (negative), or this number. */
__attribute__((unused)) static void fuzz_same(const char *what, long result, long native) {
    char detail[160];
    if (result == native)
        return;
    snprintf(detail, sizeof detail, "%s answered %ld, natively %ld", what, result, native);
    fuzz_tell(0, result < 0 ? (int)-result : 0, detail);
}

/* The call went well natively, whatever number it gave. */
__attribute__((unused)) static void fuzz_well(const char *what, long result) {
    if (result < 0)
        fuzz_same(what, result, 0);
}

/* The call wrote this natively. */
__attribute__((unused)) static void fuzz_memory(const char *what, long place, const char *data, size_t size) {
    if (memcmp((char *)FUZZ_MEMORY + place, data, size) == 0)
        return;
    char detail[160];
    snprintf(detail, sizeof detail, "%s wrote something else at %#lx", what, place);
    fuzz_tell(0, 0, detail);
}

/* Natively a file of this mode and size is there afterwards; none if the mode is 0. */
__attribute__((unused)) static void fuzz_file(const char *path, unsigned mode, long long size) {
    struct stat st;
    int there = lstat(path, &st) == 0;
    if (there ? st.st_mode == mode && (S_ISDIR(mode) || st.st_size == size) : mode == 0)
        return;
    char detail[160];
    snprintf(detail, sizeof detail, "%.60s has mode %o and size %lld, natively %o and %lld", path,
             there ? (unsigned)st.st_mode : 0, there ? (long long)st.st_size : -1, mode, size);
    fuzz_tell(0, 0, detail);
}

static inline void fuzz_make(const char *name, const char *text, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) < 0)
        faulty("making %s", name);
    close(fd);
}

static inline void fuzz_scratch(const char *top) {
    umask(022);
    if (chdir(top) < 0 || mkdir("s", 0755) < 0 || chdir("s") < 0)
        faulty("making the scratch directory");
    fuzz_make("f", "The quick brown fox jumps over the lazy dog.\n", 0644);
    fuzz_make("e", "", 0644);
    fuzz_make("r", "read only\n", 0444);
    fuzz_make("n", "closed\n", 0);
    fuzz_make("x", "#!/bin/sh\nexit 5\n", 0755);
    if (mkdir("d", 0755) < 0 || mkdir("d/h", 0755) < 0 || symlink("f", "l") < 0 ||
        symlink("nowhere", "b") < 0 || mkfifo("p", 0644) < 0)
        faulty("making the scratch directory");
    fuzz_make("d/g", "inner\n", 0644);
}

static inline void fuzz_map(long place, long size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap((void *)place, (size_t)size, PROT_READ | PROT_WRITE, flags, -1, 0) != (void *)place)
        faulty("mapping %#lx", place);
}

static inline void fuzz_limits(void) {
    static const struct { int which; rlim_t value; } limits[] = {
        {RLIMIT_CPU, 2}, {RLIMIT_FSIZE, 1 << 20}, {RLIMIT_NOFILE, 64}, {RLIMIT_MEMLOCK, 64 << 10},
        {RLIMIT_AS, 512 << 20}, {RLIMIT_STACK, 8 << 20},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit value = {limits[i].value, limits[i].value};
        setrlimit((__rlimit_resource_t)limits[i].which, &value);
    }
}

static inline void fuzz_child(const char *top, int give_up_root, void (*calls)(void)) {
    fuzz_self = getpid();
    setsid();
    if (give_up_root && (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
                         setresuid(65534, 65534, 65534) < 0))
        _exit(9);
    fuzz_scratch(top);
    fuzz_map(FUZZ_MEMORY, 8 * FUZZ_PAGE);
    fuzz_map(FUZZ_REGION, 16 * FUZZ_PAGE);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    fuzz_told = fcntl(fuzz_told, F_DUPFD_CLOEXEC, 100); /* the programs' own begin at 3 */
    if (null < 0 || fuzz_told < 0)
        _exit(9);
    dup2(null, 0), dup2(null, 1), dup2(null, 2);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    fuzz_limits();
    calls();
    fuzz_tell(1, 0, "as natively");
}

__attribute__((unused)) static int fuzz_remove(const char *path, const struct stat *st, int type, struct FTW *place) {
    (void)st, (void)place;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

/* The program's verdict, and how it ended natively: exit code, minus a signal, or 1000 for waiting. */
__attribute__((unused)) static void fuzz_run(void (*calls)(void), int native_end) {
    int ends[2], status = 0, ended;
    struct fuzz_verdict verdict = {0};
    char top[256];
    snprintf(top, sizeof top, "%s", scratch("fuzz"));
    if (pipe2(ends, O_CLOEXEC) < 0 || mkdir(top, 0755) < 0)
        faulty("making %s", top);
    /* Where root can't even give a directory away, it is an ordinary user by another name. */
    int give_up_root = geteuid() == 0 && chown(top, 65534, 65534) == 0;
    pid_t child = fork();
    if (child < 0)
        faulty("starting a child");
    if (child == 0) {
        fuzz_told = ends[1];
        fuzz_child(top, give_up_root, calls);
    }
    close(ends[1]);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    int late = poll(&ready, 1, FUZZ_WAIT_MS) == 0;
    if (late)
        kill(child, SIGKILL);
    ssize_t got = read(ends[0], &verdict, sizeof verdict);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-child, SIGKILL);
    nftw(top, fuzz_remove, 16, FTW_DEPTH | FTW_PHYS);
    if (got == sizeof verdict && verdict.complete && !verdict.same)
        blocked_with(verdict.number, "%s", verdict.detail);
    ended = late ? 1000 : WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (ended != native_end)
        blocked_with(0, "the program ended with %d, natively %d", ended, native_end);
    allowed("as natively");
}

#endif
