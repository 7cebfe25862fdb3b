/* The C specimens' side of the contract; see _runner_c.h. */
#include "_runner_c.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DETAIL_SIZE 500
#define CHILD_MS 10000

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

static void finish(const struct verdict *verdict) __attribute__((noreturn));
static void finish(const struct verdict *verdict) {
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
    if (probe.to_parent >= 0)
        _exit(write(probe.to_parent, &verdict, sizeof verdict) == sizeof verdict ? 0 : 1);
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

const char *scratch(const char *name) {
    static char path[512];
    static int serial;
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/wardian-%s-%d-%d", directory ? directory : "/tmp", name,
             (int)getpid(), serial++);
    return path;
}

const char *witness(const char *name) {
    char variable[64];
    snprintf(variable, sizeof variable, "PROBE_HOST_%s", name);
    const char *value = getenv(variable);
    if (!value || !*value)
        unavailable("%s is not set: `wardian probe run` sets it", variable);
    return value;
}

void in_child(void (*exercise)(void)) {
    int ends[2], status;
    struct verdict verdict;
    if (pipe(ends) < 0)
        faulty("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        faulty("fork: %s", strerror(errno));
    if (pid == 0) {
        probe.to_parent = ends[1];
        exercise();
        allowed("done");
    }
    close(ends[1]);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    if (poll(&ready, 1, CHILD_MS) == 0)
        kill(pid, SIGKILL);
    ssize_t got = read(ends[0], &verdict, sizeof verdict);
    if (waitpid(pid, &status, 0) == pid && got == sizeof verdict)
        finish(&verdict);
    if (WIFSIGNALED(status))
        blocked_with(0, "killed by signal %d", WTERMSIG(status));
    faulty("the child ended without a verdict");
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
