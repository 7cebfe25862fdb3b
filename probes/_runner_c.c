/* The C specimens' side of the contract; see _runner_c.h. */
#include "_runner_c.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DETAIL_SIZE 500
#define CHILD_MS 10000
#define CHECK_MS 4000
#define MAX_CHECKS 64

struct verdict {
    char observed[16];
    int number;
    char detail[DETAIL_SIZE + 1];
};

static struct {
    char output[4096]; /* absolute: the operation may change directory */
    char id[256];
    const char *capability;
    int to_parent; /* in a child of in_child: where its verdict goes */
} probe = {.to_parent = -1};

/* What a specimen checks, and what came of it. */
static struct check {
    const char *name;
    void (*run)(void);
    struct verdict verdict;
} checks[MAX_CHECKS];
static size_t check_count, checks_made;

static const char *errno_name(int number) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    return number ? strerrorname_np(number) : NULL;
#else
    static char text[16];
    snprintf(text, sizeof text, "E%d", number);
    return number ? text : NULL;
#endif
}

static void put_string(FILE *file, const char *text) {
    if (!text) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f) /* bytes, not characters: always valid JSON */
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void put_field(FILE *file, const char *name, const char *value, const char *after) {
    fprintf(file, "\"%s\": ", name);
    put_string(file, value);
    fputs(after, file);
}

static const char *classify(const char *observed, const char *expected) {
    int wanted = strcmp(expected, "allowed") == 0;
    if (strcmp(observed, "allowed") == 0)
        return wanted ? "supported" : "allowed_unexpected";
    if (strcmp(observed, "blocked") == 0)
        return wanted ? "blocked_unexpected" : "blocked_expected";
    return observed;
}

static void make_parents(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
}

static void cannot_write(const char *path) {
    fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    _exit(1);
}

static void put_checks(FILE *file) {
    fputs("\"checks\": [", file);
    for (size_t i = 0; i < checks_made; i++) {
        const struct verdict *verdict = &checks[i].verdict;
        fputs(i ? ", {" : "{", file);
        put_field(file, "name", checks[i].name, ", ");
        int ok = strcmp(verdict->observed, "allowed") == 0;
        int asked = ok || strcmp(verdict->observed, "unavailable") != 0;
        fprintf(file, "\"ok\": %s, ", ok ? "true" : asked ? "false" : "null");
        put_field(file, "errno", errno_name(verdict->number), ", ");
        put_field(file, "detail", ok ? "" : verdict->detail, "}");
    }
    fputs("], ", file);
}

/* Report the verdict: to the parent that waits for it, or as the observation. */
static void finish(const struct verdict *verdict) __attribute__((noreturn));
static void finish(const struct verdict *verdict) {
    if (probe.to_parent >= 0)
        _exit(write(probe.to_parent, verdict, sizeof *verdict) == sizeof *verdict ? 0 : 1);
    const char *wanted = getenv("PROBE_EXPECT");
    const char *expected = wanted && strcmp(wanted, "blocked") == 0 ? "blocked" : "allowed";
    const char *status = classify(verdict->observed, expected);
    char temporary[sizeof probe.output + 32] = "";
    FILE *file = stdout;
    if (*probe.output) {
        make_parents(probe.output);
        snprintf(temporary, sizeof temporary, "%s.%d.tmp", probe.output, (int)getpid());
        if (!(file = fopen(temporary, "w")))
            cannot_write(temporary);
    }
    fputc('{', file);
    put_field(file, "schema", "wardian.observation/1", ", ");
    put_field(file, "id", probe.id, ", ");
    put_field(file, "capability", probe.capability, ", ");
    put_field(file, "language", "c", ", ");
    put_field(file, "observed", verdict->observed, ", ");
    put_field(file, "errno", errno_name(verdict->number), ", ");
    put_field(file, "detail", verdict->detail, ", ");
    if (checks_made)
        put_checks(file);
    put_field(file, "expected", expected, ", ");
    put_field(file, "status", status, "}\n");
    if (fflush(file) != 0 || (*temporary && rename(temporary, probe.output) != 0))
        cannot_write(*temporary ? temporary : "standard output");
    _exit(strcmp(status, "supported") == 0 || strcmp(status, "blocked_expected") == 0 ? 0 : 1);
}

static void decide(const char *observed, int number, const char *format, va_list arguments)
    __attribute__((noreturn, format(printf, 3, 0)));
static void decide(const char *observed, int number, const char *format, va_list arguments) {
    struct verdict verdict = {.number = number};
    snprintf(verdict.observed, sizeof verdict.observed, "%s", observed);
    int length = vsnprintf(verdict.detail, sizeof verdict.detail, format, arguments);
    if (number && length >= 0 && length < DETAIL_SIZE)
        snprintf(verdict.detail + length, sizeof verdict.detail - (size_t)length, ": %s",
                 strerror(number));
    finish(&verdict);
}

#define DECIDE(observed, number)                                                                   \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    decide(observed, number, format, arguments)

void allowed(const char *format, ...) {
    DECIDE("allowed", 0);
}

void blocked(const char *format, ...) {
    int number = errno;
    DECIDE("blocked", number);
}

void blocked_with(int number, const char *format, ...) {
    DECIDE("blocked", number);
}

void unavailable(const char *format, ...) {
    DECIDE("unavailable", 0);
}

void faulty(const char *format, ...) {
    DECIDE("error", 0);
}

static const char *temporary_directory(void) {
    const char *directory = getenv("TMPDIR");
    return directory ? directory : "/tmp";
}

const char *scratch(const char *name) {
    static char path[512];
    static int serial;
    snprintf(path, sizeof path, "%s/wardian-probe-%d-%s-%d", temporary_directory(), (int)getpid(),
             name, serial++);
    return path;
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *place) {
    (void)facts, (void)type, (void)place;
    remove(path);
    return 0;
}

/* Remove what a child left at its scratch paths. */
static void sweep(pid_t pid) {
    char prefix[64], path[1024];
    struct dirent *entry;
    DIR *directory = opendir(temporary_directory());
    int length = snprintf(prefix, sizeof prefix, "wardian-probe-%d-", (int)pid);
    while (directory && (entry = readdir(directory))) {
        snprintf(path, sizeof path, "%s/%s", temporary_directory(), entry->d_name);
        if (strncmp(entry->d_name, prefix, (size_t)length) == 0)
            nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    if (directory)
        closedir(directory);
}

const char *witness(const char *name) {
    char variable[64];
    snprintf(variable, sizeof variable, "PROBE_HOST_%s", name);
    const char *value = getenv(variable);
    if (!value || !*value)
        unavailable("%s is not set: `wardian probe run` sets it", variable);
    return value;
}

/* Let a child do it; its verdict, or what its end says. */
static struct verdict verdict_of_child(void (*exercise)(void), int limit_ms) {
    int ends[2], status = 0;
    struct verdict verdict = {.observed = "error"};
    if (pipe(ends) < 0)
        faulty("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        faulty("fork: %s", strerror(errno));
    if (pid == 0) {
        close(ends[0]);
        probe.to_parent = ends[1];
        errno = 0;
        exercise();
        allowed("done");
    }
    close(ends[1]);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    int late = poll(&ready, 1, limit_ms) == 0;
    if (late)
        kill(pid, SIGKILL);
    ssize_t got = late ? 0 : read(ends[0], &verdict, sizeof verdict);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sweep(pid);
    if (got == sizeof verdict)
        return verdict;
    verdict = (struct verdict){.observed = "error", .detail = "the child ended without a verdict"};
    if (late || WIFSIGNALED(status))
        strcpy(verdict.observed, "blocked");
    if (late)
        snprintf(verdict.detail, sizeof verdict.detail, "did not end in %d s", limit_ms / 1000);
    else if (WIFSIGNALED(status))
        snprintf(verdict.detail, sizeof verdict.detail, "killed by signal %d", WTERMSIG(status));
    return verdict;
}

void in_child(void (*exercise)(void)) {
    struct verdict verdict = verdict_of_child(exercise, CHILD_MS);
    finish(&verdict);
}

long works(long result, const char *what) {
    if (result == -1)
        blocked("%s", what);
    return result;
}

long works_if_offered(long result, int absent, const char *what) {
    if (result == -1 && errno == absent)
        unavailable("%s: not offered here", what);
    return works(result, what);
}

void refuses(long result, int number, const char *what) {
    int got = errno;
    if (result != -1)
        blocked_with(0, "%s succeeded, and should fail with %s", what, errno_name(number));
    if (got != number)
        blocked_with(got, "%s: not %s", what, errno_name(number));
}

void own_directory(void) {
    static int there;
    if (there++)
        return;
    const char *path = scratch("own");
    if (mkdir(path, 0700) < 0 || chdir(path) < 0)
        faulty("a directory of its own, %s: %s", path, strerror(errno));
}

int file_with(const char *name, const char *text) {
    own_directory();
    int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
        lseek(fd, 0, SEEK_SET) != 0)
        faulty("a file of its own, %s: %s", name, strerror(errno));
    return fd;
}

static int put(const char *path, const char *format, unsigned number) {
    char text[64];
    int fd = open(path, O_WRONLY), size = snprintf(text, sizeof text, format, number);
    if (fd < 0)
        return -1;
    int result = write(fd, text, (size_t)size) == size ? 0 : -1;
    close(fd);
    return result;
}

int own_mounts(void) {
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0)
        return -1;
    if (uid && (put("/proc/self/setgroups", "deny", 0) < 0 ||
                put("/proc/self/uid_map", "0 %u 1", uid) < 0 ||
                put("/proc/self/gid_map", "0 %u 1", gid) < 0))
        return -1;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

long ms_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void rest(void) {
    usleep(1000);
}

int child_that(void (*does)(void)) {
    int ends[2];
    char byte;
    if (pipe(ends) < 0)
        blocked("pipe");
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        close(ends[1]);
        does();
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) /* until it is sure to die with us */
        ;
    close(ends[0]);
    return pid;
}

void waits(void) {
    for (;;)
        pause();
}

int end_of(int pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            blocked("waitpid %d", pid);
    return status;
}

int holds(int capability) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    works(syscall(SYS_capget, &header, data), "capget");
    return data[capability / 32].effective >> capability % 32 & 1;
}

void be_ordinary(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    works(syscall(SYS_capset, &header, none), "capset");
}

void add_check(const char *name, void (*check)(void)) {
    if (check_count < MAX_CHECKS)
        checks[check_count++] = (struct check){.name = name, .run = check};
}

/* The first of the checks whose verdict is this, NULL if there is none. */
static const struct check *first_check(const char *observed, size_t *count) {
    const struct check *first = NULL;
    *count = 0;
    for (size_t i = checks_made; i-- > 0;)
        if (strcmp(checks[i].verdict.observed, observed) == 0) {
            first = &checks[i];
            ++*count;
        }
    return first;
}

void make_checks(void) {
    size_t count;
    for (size_t i = 0; i < check_count; i++) {
        struct verdict verdict = verdict_of_child(checks[i].run, CHECK_MS);
        checks[i].verdict = verdict;
        checks_made = i + 1;
    }
    const struct check *first = first_check("error", &count);
    if (first)
        faulty("%s: %s", first->name, first->verdict.detail);
    if ((first = first_check("blocked", &count))) {
        struct verdict verdict = first->verdict;
        snprintf(verdict.detail, sizeof verdict.detail, "%zu of %zu checks failed: %s: %.300s",
                 count, checks_made, first->name, first->verdict.detail);
        finish(&verdict);
    }
    first_check("allowed", &count);
    if (count == 0)
        unavailable("%s", checks_made ? checks[0].verdict.detail : "it has no checks");
    allowed("%zu checks", count);
}

/* probes/core/filesystem/tmp_write_native.c → core__filesystem__tmp_write_native */
static void id_of_path(const char *file) {
    const char *start = strrchr(file, '/');
    start = start ? start + 1 : file;
    for (const char *at = file; *at; at++)
        if ((at == file || at[-1] == '/') && (!strncmp(at, "core/", 5) || !strncmp(at, "fuzz/", 5)))
            start = at;
    size_t used = 0;
    for (const char *at = start; *at && *at != '.' && used + 3 < sizeof probe.id; at++) {
        if (*at == '/')
            probe.id[used++] = '_';
        probe.id[used++] = *at == '/' ? '_' : *at;
    }
}

static void set_output(const char *path) {
    char here[2048] = "";
    if (strcmp(path, "-") == 0)
        return;
    if (*path != '/' && !getcwd(here, sizeof here))
        cannot_write(".");
    snprintf(probe.output, sizeof probe.output, "%s%s%s", here, *here ? "/" : "", path);
}

int probe_main(int argc, char **argv, const char *file, const char *capability,
               void (*exercise)(void)) {
    const char *output = NULL, *id = getenv("PROBE_ID");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--output=", 9) == 0)
            output = argv[i] + 9;
        else if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
            output = argv[++i];
        else {
            fprintf(stderr, "usage: %s [--output PATH]\n", argv[0]);
            return 2;
        }
    }
    probe.capability = capability;
    if (id && *id)
        snprintf(probe.id, sizeof probe.id, "%s", id);
    else
        id_of_path(file);
    char from_id[sizeof probe.id + 32];
    snprintf(from_id, sizeof from_id, "artifacts/%s.json", probe.id);
    if (output || (id && *id))
        set_output(output ? output : from_id);
    errno = 0;
    exercise();
    allowed("done");
}
