/* Plans, valid and invalid: which ones the parser accepts, and which it rejects. */
#define _GNU_SOURCE
#include "fortify.h"
#include "check.h"
#include "descriptors.h"
#include "plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct text {
    uint8_t bytes[1 << 16];
    size_t len;
    size_t ends[2048]; /* where records end */
    size_t count;
};

static void put_bytes(struct text *plan, const void *bytes, size_t len) {
    CHECK(plan->len + len <= sizeof plan->bytes);
    memcpy(plan->bytes + plan->len, bytes, len);
    plan->len += len;
}

static void put_field(struct text *plan, const void *bytes, size_t len) {
    uint8_t head[4] = {(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16), (uint8_t)(len >> 24)};
    put_bytes(plan, head, sizeof head);
    put_bytes(plan, bytes, len);
    put_bytes(plan, "", 1);
}

static void put_record(struct text *plan, unsigned count, ...) {
    uint8_t fields = (uint8_t)count;
    va_list args;
    va_start(args, count);
    put_bytes(plan, &fields, 1);
    for (unsigned i = 0; i < count; i++) {
        const char *field = va_arg(args, const char *);
        put_field(plan, field, strlen(field));
    }
    va_end(args);
    plan->ends[plan->count++] = plan->len;
}

static void put_binary(struct text *plan, const char *name, const void *bytes, size_t len) {
    uint8_t fields = 2;
    put_bytes(plan, &fields, 1);
    put_field(plan, name, strlen(name));
    put_field(plan, bytes, len);
    plan->ends[plan->count++] = plan->len;
}

static void start_plan(struct text *plan) {
    plan->len = plan->count = 0;
    put_bytes(plan, "wardian-plan 1\n", 15);
}

/* The smallest valid plan. */
static void least_plan(struct text *plan) {
    static const uint8_t filter[16] = {0x06, 0, 0, 0, 0, 0, 0xff, 0x7f};
    start_plan(plan);
    put_record(plan, 3, "identity", "1000", "1000");
    put_record(plan, 2, "hostname", "wardian");
    put_record(plan, 3, "root", "1048576", "1000");
    put_binary(plan, "filter", filter, sizeof filter);
    put_record(plan, 2, "parent", "42");
    put_record(plan, 2, "cwd", "/work");
    put_record(plan, 2, "arg", "true");
    put_record(plan, 2, "path", "/usr/bin:/bin");
}

/* A plan with one record of every kind. */
static void full_plan(struct text *plan) {
    static const uint8_t refusals[8] = {101, 0, 1, 0, 16, 1, 38, 0};
    least_plan(plan);
    put_record(plan, 2, "arg", "");
    put_record(plan, 2, "env", "A=b");
    put_record(plan, 4, "bind", "/usr", "/usr", "8");
    put_record(plan, 3, "dir", "/d", "365");
    put_record(plan, 4, "file", "/etc/x", "420", "text\n");
    put_record(plan, 3, "symlink", "usr/bin", "/bin");
    put_record(plan, 3, "private", "/tmp", "1023");
    put_record(plan, 2, "proc", "/proc");
    put_record(plan, 3, "devpts", "/dev/pts", "64");
    put_record(plan, 2, "mqueue", "/dev/mqueue");
    put_record(plan, 2, "mask", "/proc/keys");
    put_record(plan, 3, "sysctl", "0", "sys/user/max_user_namespaces");
    put_record(plan, 4, "landlock", "65535", "0", "3");
    put_record(plan, 3, "rule", "/", "8");
    put_record(plan, 3, "rlimit", "7", "1024");
    put_record(plan, 5, "quota", "206", "0", "4096", "0");
    put_record(plan, 4, "stream", "0", "null", "0");
    put_record(plan, 4, "stream", "1", "relay", "7");
    put_record(plan, 4, "stream", "2", "direct", "8");
    put_record(plan, 4, "copy", "1", "10", "4096");
    put_record(plan, 2, "watch", "/srv");
    put_binary(plan, "refusals", refusals, sizeof refusals);
    put_record(plan, 2, "flag", "network");
    put_record(plan, 3, "interface", "eth0", "3405803778");
    put_record(plan, 2, "flag", "notify");
    put_record(plan, 2, "wall-ms", "1000");
    put_record(plan, 2, "cpu-ms", "1000");
    put_record(plan, 2, "memory", "18446744073709551615");
    put_record(plan, 2, "disk", "1");
    put_record(plan, 2, "output", "1");
}

/* Read from memory of exactly that size, so that the sanitizer reports one byte read beyond it. */
static bool parses(const uint8_t *bytes, size_t len, struct plan *plan, const char **problem) {
    plan_forget();
    static uint8_t *copy;
    free(copy);
    copy = malloc(len ? len : 1);
    CHECK(copy != NULL);
    memcpy(copy, bytes, len);
    bool good = plan_parse(plan, copy, len, problem);
    CHECK(*problem != NULL);
    if (!good)
        CHECK(strlen(*problem) < (1 << 16));
    return good;
}

static bool accepted(const struct text *text) {
    struct plan plan;
    const char *problem;
    return parses(text->bytes, text->len, &plan, &problem);
}

/* Every list of an accepted plan lies within the plan. */
static void walk(const struct plan *plan) {
    size_t sum = strlen(plan->hostname) + strlen(plan->cwd) + strlen(plan->path);
    CHECK(plan->step_count <= MAX_STEPS && plan->rule_count <= MAX_RULES);
    CHECK(plan->rlimit_count <= MAX_RLIMITS && plan->watched_count <= MAX_WATCHED);
    CHECK(plan->argv[0] != NULL);
    for (char **at = plan->argv; *at; at++)
        sum += strlen(*at);
    for (char **at = plan->envp; *at; at++)
        sum += strlen(*at);
    for (size_t i = 0; i < plan->step_count; i++)
        sum += strlen(plan->steps[i].path) + (plan->steps[i].text ? strlen(plan->steps[i].text) : 0);
    for (size_t i = 0; i < plan->rule_count; i++)
        sum += strlen(plan->rules[i].path);
    for (size_t i = 0; i < plan->filter_len; i++)
        sum += plan->filter[i];
    for (size_t i = 0; i < 3; i++)
        CHECK(plan->streams[i].kind == STREAM_NULL ||
              (plan->streams[i].fd >= FD_FIRST_STREAM && plan->streams[i].fd <= FD_LAST_STREAM));
    CHECK(plan->without == 0 && sum > 0);
}

static void check_good_plans(void) {
    static struct text text;
    struct plan plan;
    const char *problem;
    least_plan(&text);
    CHECK(parses(text.bytes, text.len, &plan, &problem));
    walk(&plan);
    full_plan(&text);
    CHECK(parses(text.bytes, text.len, &plan, &problem));
    walk(&plan);
    CHECK(plan.uid == 1000 && plan.parent == 42 && plan.own_network && plan.notify);
    CHECK(plan.step_count == 10 && plan.rule_count == 1 && plan.rlimit_count == 1);
    CHECK(strcmp(plan.argv[1], "") == 0 && plan.argv[2] == NULL && strcmp(plan.envp[0], "A=b") == 0);
    CHECK(plan.memory_bytes == UINT64_MAX && plan.refusal_errno[101] == 1);
    CHECK(plan.refusal_errno[272] == 38 && plan.streams[2].kind == STREAM_DIRECT);
    CHECK(plan.copies[1].fd == 10 && plan.copies[1].room == 4096 && plan.copies[2].fd == 0);
    CHECK(plan.steps[2].text_len == 5 && memcmp(plan.steps[2].text, "text\n", 5) == 0);
}

/* Cut anywhere but between two records it is invalid; cut there, it may be a valid plan with fewer records. */
static void check_truncated_plans(void) {
    static struct text text;
    struct plan plan;
    const char *problem;
    full_plan(&text);
    size_t record = 0;
    for (size_t len = 0; len < text.len; len++) {
        while (record < text.count && text.ends[record] < len)
            record++;
        bool whole = record < text.count && text.ends[record] == len;
        bool good = parses(text.bytes, len, &plan, &problem);
        CHECK(whole || !good);
        CHECK(!good || record >= 7); /* all that the least plan has */
    }
}

static void check_bad_records(void) {
    static const char *const bad[][6] = {
        {"unknown"}, {"unknown", "x"}, {""}, {"arg"}, {"arg", "a", "b"}, {"bind", "/a", "/b"},
        {"bind", "/a", "/b", "x"}, {"bind", "/a", "/b", ""}, {"bind", "/a", "/b", "-1"},
        {"bind", "/a", "/b", "18446744073709551616"}, {"bind", "/a", "/b", "999999999999999999999"},
        {"bind", "/a", "/b", " 1"}, {"parent", "0"}, {"parent", "2147483648"}, {"parent", "1x"},
        {"identity", "4294967295", "1"}, {"identity", "1", "4294967294"}, {"identity", "", "1"},
        {"stream", "3", "null", "0"}, {"stream", "0", "file", "6"}, {"stream", "0", "relay", "5"},
        {"stream", "0", "relay", "9"}, {"stream", "0", "pty", "0"}, {"stream", "0", "null", "x"},
        {"copy", "0", "10", "1"}, {"copy", "3", "10", "1"}, {"copy", "1", "9", "1"}, {"copy", "1", "12", "1"},
        {"copy", "1", "10", ""}, {"copy", "1", "10"},
        {"rlimit", "65", "1"}, {"rlimit", "7", "unlimited"}, {"rule", "/", ""}, {"flag", ""},
        {"flag", "without-seccomp"}, {"flag", "without-landlock"}, {"flag", "without-pivot"},
        {"wall-ms", "1.5"}, {"wall-ms", ""}, {"root", "1"}, {"root", "1", "x"}, {"landlock", "1", "2"},
        {"landlock", "1", "2", "x"}, {"file", "/f", "x", ""}, {"devpts", "/p", "-"},
    };
    static struct text text;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned count = 0;
        while (count < 6 && bad[i][count])
            count++;
        least_plan(&text);
        put_record(&text, count, bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], bad[i][5]);
        CHECK(!accepted(&text));
    }
}

static void check_bad_bytes(void) {
    static struct text text;
    static uint8_t many[8 * 4097];
    least_plan(&text);
    put_binary(&text, "arg", "hidden\0tail", 11); /* an inner NUL hides what follows */
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "filter", many, 7);
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "filter", many, sizeof many);
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "filter", many, 0);
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "refusals", "\1\0\0\0", 4); /* errno 0 is no refusal */
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "refusals", "\0\4\1\0", 4); /* call 1024 */
    CHECK(!accepted(&text));
    least_plan(&text);
    put_binary(&text, "refusals", "\1\0\1", 3);
    CHECK(!accepted(&text));
    least_plan(&text);
    put_bytes(&text, "\0", 1); /* a record of no fields */
    CHECK(!accepted(&text));
    least_plan(&text);
    put_bytes(&text, "\7", 1); /* and one of too many */
    CHECK(!accepted(&text));
    least_plan(&text);
    put_bytes(&text, "\1\377\377\377\377x", 6); /* a length that wraps */
    CHECK(!accepted(&text));
    text.bytes[8] = 'X';
    CHECK(!accepted(&text));
}

static void check_counts(void) {
    static const struct {
        const char *name;
        size_t most;
    } counted[] = {{"mask", MAX_STEPS}, {"rule", MAX_RULES}, {"rlimit", MAX_RLIMITS}, {"quota", MAX_QUOTAS}, {"watch", MAX_WATCHED}};
    static struct text text;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        least_plan(&text);
        for (size_t n = 0; n <= counted[i].most; n++) {
            CHECK(n == 0 || accepted(&text));
            if (strcmp(counted[i].name, "rule") == 0)
                put_record(&text, 3, "rule", "/", "1");
            else if (strcmp(counted[i].name, "rlimit") == 0)
                put_record(&text, 3, "rlimit", "7", "1");
            else if (strcmp(counted[i].name, "quota") == 0)
                put_record(&text, 5, "quota", "1", "0", "1", "1");
            else
                put_record(&text, 2, counted[i].name, "/x");
        }
        CHECK(!accepted(&text));
    }
}

static void begin_plan(struct text *plan, const char *line) {
    plan->len = plan->count = 0;
    put_bytes(plan, line, strlen(line));
    put_record(plan, 2, "parent", "42");
    put_record(plan, 2, "cwd", "/");
    put_record(plan, 2, "arg", "true");
    put_record(plan, 2, "path", "/bin");
}

/* The smallest valid plan without walls. */
static void bare_plan(struct text *plan) { begin_plan(plan, "wardian-bare 1\n"); }

/* Each wall of the smallest plan is required: without its record, the plan is invalid. */
static void check_required_walls(void) {
    static struct text whole, less;
    least_plan(&whole);
    for (size_t i = 0; i < whole.count; i++) {
        size_t from = i ? whole.ends[i - 1] : 15, to = whole.ends[i];
        less = whole;
        memmove(less.bytes + from, less.bytes + to, whole.len - to);
        less.len -= to - from;
        CHECK(!accepted(&less));
    }
}

/* No record turns a plan with walls into one without; and one without can't ask for walls that need a root. */
static void check_bare_plans(void) {
    static const char *const only_bare[][4] = {
        {"keep", "16"}, {"stage", "/mnt"}, {"staged", "/a", "1", "2"}, {"voice", "x: "}, {"place", "/tmp"},
        {"inodes", "1"}, {"flag", "inner"}, {"flag", "same-session"},
    };
    static const char *const never_bare[][5] = {
        {"hostname", "h"}, {"root", "1", "1"}, {"bind", "/a", "/b", "0"}, {"proc", "/proc"}, {"private", "/tmp", "1"},
        {"mask", "/x"}, {"flag", "network"}, {"interface", "eth0", "1"}, {"flag", "notify"}, {"flag", "lookups"}, {"flag", "opens"},
        {"flag", "trace"}, {"flag", "early-filter"}, {"flag", "keyring"}, {"host-id", "1879048192"},
        {"quota", "1", "0", "1", "1"}, {"budget", "1", "1"}, {"identity", "1", "0"}, {"keep", "13"},
        {"keep", "2147483648"}, {"stage", "mnt"}, {"stage", "/mnt"}, {"staged", "/a", "1", "2"}, {"place", "tmp"},
        {"voice", ""}, {"voice", "a voice that is longer than any program's name"}, {"flag", "bare"},
    };
    static struct text text;
    struct plan plan;
    const char *problem;
    bare_plan(&text);
    CHECK(parses(text.bytes, text.len, &plan, &problem) && plan.bare.wanted);
    CHECK(!plan.filter_len && !plan.landlock && !plan.uid && !plan.rlimit_count);
    for (size_t i = 0; i < sizeof only_bare / sizeof *only_bare; i++) {
        const char *const *r = only_bare[i];
        least_plan(&text);
        put_record(&text, r[2] ? 4U : 2U, r[0], r[1], r[2], r[3]);
        CHECK(!accepted(&text));
    }
    for (size_t i = 0; i < sizeof never_bare / sizeof *never_bare; i++) {
        unsigned count = 0;
        while (count < 5 && never_bare[i][count])
            count++;
        bare_plan(&text);
        put_record(&text, count, never_bare[i][0], never_bare[i][1], never_bare[i][2], never_bare[i][3], never_bare[i][4]);
        CHECK(!accepted(&text));
    }
    least_plan(&text);
    CHECK(parses(text.bytes, text.len, &plan, &problem) && !plan.bare.wanted);
}

/* The smallest valid plan for a confined guest, without one of its records; 0: with all. */
static void confined_plan(struct text *plan, int missing) {
    static const uint8_t filter[8] = {6}, calls[2] = {42};
    begin_plan(plan, "wardian-confined 1\n");
    put_binary(plan, missing == 1 ? "verdict" : "filter", filter, sizeof filter);
    put_record(plan, 4, "landlock", missing == 2 ? "0" : "1", "0", "0");
    if (missing != 3)
        put_record(plan, 3, "rule", "/usr", "1");
    put_binary(plan, "acted", calls, sizeof calls);
    put_record(plan, 2, "flag", "internet");
}

/* Landlock and the filter are required; and what needs a namespace, or another sandbox's program, is refused. */
static void check_confined_plans(void) {
    static const char *const never[][4] = {
        {"hostname", "h"}, {"root", "1", "1"}, {"bind", "/a", "/b", "0"}, {"proc", "/proc"}, {"flag", "network"},
        {"flag", "lookups"}, {"flag", "early-filter"}, {"flag", "living"}, {"flag", "inner"}, {"flag", "same-session"},
        {"keep", "16"}, {"voice", "x: "}, {"place", "/tmp"}, {"identity", "1", "0"}, {"shm", "tmp"}, {"flag", "notify"},
    };
    static struct text text;
    struct plan plan;
    for (int missing = 0; missing <= 3; missing++) {
        confined_plan(&text, missing);
        CHECK(parses(text.bytes, text.len, &plan, &(const char *){NULL}) == !missing);
        CHECK(missing || (plan.bare.wanted && plan.bare.confined && plan.acted[42] && plan.bare.internet));
    }
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        confined_plan(&text, 0);
        put_record(&text, never[i][3] ? 4U : never[i][2] ? 3U : 2U, never[i][0], never[i][1], never[i][2], never[i][3]);
        CHECK(!accepted(&text));
    }
    bare_plan(&text); /* none of it is for a plan that promises nothing */
    put_record(&text, 2, "shm", "/tmp/x");
    CHECK(!accepted(&text));
}

/* Walls that such a plan can have: each asked for by a record of its own. */
static void check_walls_of_bare_plans(void) {
    static const uint8_t filter[8] = {6};
    static struct text text;
    struct plan plan;
    const char *problem;
    bare_plan(&text);
    put_record(&text, 3, "identity", "1000", "1000");
    put_binary(&text, "filter", filter, sizeof filter);
    put_record(&text, 4, "landlock", "1", "0", "0");
    put_record(&text, 2, "keep", "16");
    put_record(&text, 2, "keep", "18");
    put_record(&text, 2, "stage", "/mnt");
    put_record(&text, 4, "staged", "/a", "1", "2");
    put_record(&text, 2, "flag", "inner");
    CHECK(parses(text.bytes, text.len, &plan, &problem));
    CHECK(plan.bare.kept_count == 2 && plan.bare.kept[1] == 18 && plan.bare.staged[0].inode == 2);
    CHECK(plan.uid == 1000 && plan.filter_len == 8 && plan.landlock && plan.bare.inner);
    put_record(&text, 2, "keep", "17"); /* out of order: it may be there already */
    CHECK(!accepted(&text));
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The same mutations each time; what is still accepted must hold together. */
static void check_mutated_plans(void) {
    static struct text whole, mutated;
    struct plan plan;
    const char *problem;
    size_t good = 0;
    full_plan(&whole);
    for (int round = 0; round < 30000; round++) {
        mutated = whole;
        for (uint64_t n = random_number() % 4 + 1; n; n--) {
            uint8_t *at = &mutated.bytes[random_number() % mutated.len];
            switch (random_number() % 4) {
            case 0:
                *at = (uint8_t)random_number();
                break;
            case 1:
                *at ^= (uint8_t)(1U << (random_number() % 8));
                break;
            case 2:
                *at = random_number() & 1 ? 0xff : 0;
                break;
            default: /* a piece of it goes */
                mutated.len -= random_number() % (mutated.len / 8 + 1);
                break;
            }
        }
        if (parses(mutated.bytes, mutated.len, &plan, &problem)) {
            walk(&plan);
            good++;
        }
    }
    CHECK(good > 100 && good < 30000);
    plan_forget();
}

void check_plans(void) {
    check_good_plans();
    check_truncated_plans();
    check_bad_records();
    check_bad_bytes();
    check_counts();
    check_required_walls();
    check_bare_plans();
    check_confined_plans();
    check_walls_of_bare_plans();
    check_mutated_plans();
}
