/* Reads the plan: the caller decided everything; this only unpacks it, and trusts no length.
 *
 * A plan is one of the lines "wardian-plan 1", "wardian-bare 1" and "wardian-confined 1" (bare.h), then records
 * (records.c). */
#define _GNU_SOURCE
#include "fortify.h"
#include "plan.h"
#include "fail.h"
#include "plan_records.h"
#include "records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_PLAN = 16 << 20 };

static const char magic[] = "wardian-plan 1\n";
/* Not records, so that no record can turn a plan with walls into one without. */
static const char bare_magic[] = "wardian-bare 1\n";
static const char confined_magic[] = "wardian-confined 1\n";

/* The plan's strings lie here, so that the supervisor can free them all at once. */
static struct {
    uint8_t *bytes;
    size_t bytes_size;
    uint8_t *arena;
    size_t arena_size, arena_used;
} storage;

static void *carve(size_t size) {
    size_t at = (storage.arena_used + 15) & ~(size_t)15;
    if (at + size > storage.arena_size)
        return NULL;
    storage.arena_used = at + size;
    return storage.arena + at;
}

static bool count_vectors(struct cursor cursor, struct vectors *counts) {
    struct record r;
    while (cursor.at < cursor.end) {
        if (!next_record(&cursor, &r))
            return false;
        counts->args += strcmp(r.fields[0].at, "arg") == 0;
        counts->envs += strcmp(r.fields[0].at, "env") == 0;
    }
    return true;
}

static bool make_room(struct plan *plan, const struct vectors *counts) {
    storage.arena_size = (MAX_STEPS * sizeof *plan->steps) + (MAX_RULES * sizeof *plan->rules) +
                         ((counts->args + counts->envs + 2) * sizeof(char *)) + 64;
    storage.arena = mmap(NULL, storage.arena_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (storage.arena == MAP_FAILED)
        return false;
    storage.arena_used = 0;
    plan->steps = carve(MAX_STEPS * sizeof *plan->steps);
    plan->rules = carve(MAX_RULES * sizeof *plan->rules);
    plan->argv = carve((counts->args + 1) * sizeof(char *));
    plan->envp = carve((counts->envs + 1) * sizeof(char *));
    return plan->steps && plan->rules && plan->argv && plan->envp;
}

/* What can't be had without a root or namespaces of ours is not passed over in silence. */
static bool asks_for_namespaces(const struct plan *plan) {
    return plan->step_count || plan->root_bytes || plan->hostname || plan->own_network || plan->interface || plan->host_id ||
           plan->lookups || plan->early_filter;
}

/* Files, calls and who the guest is: the three walls that there can be without namespaces. */
static bool complete_confined(const struct plan *plan, bool runs, const char **problem) {
    *problem = "it is for a confined guest, and lacks Landlock, a filter, a parent or a command; or asks for namespaces";
    bool others = plan->bare.inner || plan->bare.same_session || plan->bare.stage || plan->bare.staged_count ||
                  plan->bare.kept_count || plan->bare.voice || plan->bare.place_count;
    bool walls = plan->landlock && plan->landlock_fs && plan->rule_count && plan->filter_len;
    return runs && walls && !others && !asks_for_namespaces(plan) && !plan->uid == !plan->gid && !plan->notify == !plan->verdict_len;
}

/* Every wall is required, except in a plan without walls. */
static bool complete(const struct plan *plan, const char **problem) {
    bool runs = plan->parent && plan->argv[0] && plan->cwd && plan->path;
    if (plan->living) {
        *problem = "a living sandbox has a parent, a filter, an identity, and no command, streams or trace of its own";
        for (int i = 0; i < 3; i++)
            if (plan->streams[i].kind != STREAM_NULL)
                return false;
        return !plan->bare.wanted && plan->parent && !plan->argv[0] && !plan->trace && plan->filter && plan->uid && plan->gid && plan->root_bytes && plan->hostname;
    }
    if (!plan->bare.wanted) {
        *problem = "it lacks a parent, a command, a filter or an identity";
        return runs && plan->filter && plan->uid && plan->gid && plan->root_bytes && plan->hostname;
    }
    if (plan->bare.confined)
        return complete_confined(plan, runs, problem);
    /* A wall that needs a root or namespaces of ours is rejected here, never silently ignored. */
    *problem = "it has no walls of ours, and asks for one; or it lacks a parent or a command";
    bool asks = asks_for_namespaces(plan) || plan->notify || plan->trace || plan->opens || plan->verdict_len || plan->quota_count || plan->budget_call >= 0 || plan->require_keyring;
    return runs && !asks && !plan->uid == !plan->gid && !plan->bare.stage == !plan->bare.staged_count;
}

/* How long the first line is; 0: it is none of a plan's. */
static size_t first_line(struct plan *plan, const uint8_t *bytes, size_t len) {
    static const char *const lines[] = {magic, bare_magic, confined_magic};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t size = strlen(lines[i]);
        if (len < size || memcmp(bytes, lines[i], size) != 0)
            continue;
        plan->bare.wanted = i > 0;
        plan->bare.confined = i == 2;
        return size;
    }
    return 0;
}

bool plan_parse(struct plan *plan, const uint8_t *bytes, size_t len, const char **problem) {
    *plan = (struct plan){.budget_call = -1};
    struct cursor cursor = {bytes, bytes + len};
    struct vectors counts = {0}, taken = {0};
    *problem = "it is not a plan of this version";
    size_t line = first_line(plan, bytes, len);
    if (!line)
        return false;
    cursor.at += line;
    *problem = "a record is cut short";
    if (!count_vectors(cursor, &counts))
        return false;
    *problem = "no memory for it";
    if (!make_room(plan, &counts))
        return false;
    struct record r;
    while (cursor.at < cursor.end) {
        *problem = "a record is cut short";
        if (!next_record(&cursor, &r))
            return false;
        *problem = r.fields[0].at;
        if (!take_record(plan, &r, &taken))
            return false;
    }
    return complete(plan, problem);
}

void plan_read(struct plan *plan, int fd) {
    size_t room = 1 << 16, used = 0;
    uint8_t *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        die(errno, "supervisor", "making room for the plan");
    for (;;) {
        if (used == room) {
            if (room >= MAX_PLAN)
                die(E2BIG, "supervisor", "the plan is larger than %d bytes", MAX_PLAN);
            bytes = mremap(bytes, room, room * 2, MREMAP_MAYMOVE);
            if (bytes == MAP_FAILED)
                die(errno, "supervisor", "making room for the plan");
            room *= 2;
        }
        ssize_t n = read(fd, bytes + used, room - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            die(errno, "supervisor", "reading the plan");
        if (n == 0)
            break;
        used += (size_t)n;
    }
    storage.bytes = bytes;
    storage.bytes_size = room;
    const char *problem;
    if (!plan_parse(plan, bytes, used, &problem))
        die(EINVAL, "supervisor", "the plan can't be read: %s", problem);
}

void plan_forget(void) {
    if (storage.bytes)
        munmap(storage.bytes, storage.bytes_size);
    if (storage.arena && storage.arena != MAP_FAILED)
        munmap(storage.arena, storage.arena_size);
    storage.bytes = storage.arena = NULL;
}
