/* Every record that a plan can have, and the field of the plan that it sets. */
#define _GNU_SOURCE
#include "fortify.h"
#include "plan_records.h"
#include "call.h"
#include "confined_records.h"
#include "descriptors.h"
#include "omitted_walls.h"
#include "plan.h"
#include "records.h"

#include <limits.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

static bool add_step(struct plan *plan, enum step_kind kind, const struct record *r) {
    if (plan->step_count == MAX_STEPS)
        return false;
    struct step *step = &plan->steps[plan->step_count++];
    *step = (struct step){.kind = kind, .fd = -1};
    const struct field *f = r->fields;
    switch (kind) {
    case STEP_FILE:
        step->path = f[1].at;
        step->text = f[3].at;
        step->text_len = f[3].len;
        return field_number(&f[2], &step->number);
    case STEP_ONLY:
        step->path = f[1].at;
        step->text = f[2].at;
        return true;
    case STEP_SYMLINK:
    case STEP_SYSCTL:
        step->text = f[1].at;
        step->text_len = f[1].len;
        step->path = f[2].at;
        return true;
    case STEP_BIND:
        step->text = f[1].at;
        step->path = f[2].at;
        return field_number(&f[3], &step->number);
    case STEP_DIR:
    case STEP_PRIVATE:
    case STEP_DEVPTS:
        step->path = f[1].at;
        return field_number(&f[2], &step->number);
    case STEP_MQUEUE:
    case STEP_PROC:
    case STEP_MASK:
        step->path = f[1].at;
        return true;
    }
    return false;
}

static bool add_rule(struct plan *plan, const struct record *r) {
    if (plan->rule_count == MAX_RULES)
        return false;
    struct landlock_rule *rule = &plan->rules[plan->rule_count++];
    rule->path = r->fields[1].at;
    return field_number(&r->fields[2], &rule->access);
}

static bool add_rlimit(struct plan *plan, const struct record *r) {
    uint64_t resource;
    if (plan->rlimit_count == MAX_RLIMITS || !field_number(&r->fields[1], &resource) || resource > 64)
        return false;
    plan->rlimits[plan->rlimit_count].resource = (int)resource;
    return field_number(&r->fields[2], &plan->rlimits[plan->rlimit_count++].value);
}

static bool add_quota(struct plan *plan, const struct record *r) {
    uint64_t call, arg, uncounted;
    if (plan->quota_count == MAX_QUOTAS || !field_number(&r->fields[1], &call) || call >= MAX_SYSCALL ||
        !field_number(&r->fields[2], &arg) || arg > 5 || !field_number(&r->fields[4], &uncounted) || uncounted > 1)
        return false;
    struct quota *quota = &plan->quotas[plan->quota_count++];
    quota->call = (int)call;
    quota->arg = (int)arg;
    quota->uncounted = uncounted;
    return field_number(&r->fields[3], &quota->most);
}

static bool add_route(struct plan *plan, const struct record *r) {
    uint64_t family, bits;
    const struct field *address = &r->fields[3];
    if (plan->route_count == MAX_ROUTES || !field_number(&r->fields[1], &family) ||
        !field_number(&r->fields[2], &bits) || (family != AF_INET && family != AF_INET6) ||
        address->len != (family == AF_INET ? 4 : 16) || bits > 8 * address->len)
        return false;
    struct route *route = &plan->routes[plan->route_count++];
    *route = (struct route){.family = (uint8_t)family, .bits = (uint8_t)bits};
    memcpy(route->address, address->at, address->len);
    return true;
}

static bool set_stream(struct plan *plan, const struct record *r) {
    static const char *const kinds[] = {"null", "direct", "relay", "pty"};
    uint64_t index, fd;
    if (!field_number(&r->fields[1], &index) || index > 2 || !field_number(&r->fields[3], &fd))
        return false;
    for (int kind = STREAM_NULL; kind <= STREAM_PTY; kind++)
        if (strcmp(r->fields[2].at, kinds[kind]) == 0) {
            if (kind != STREAM_NULL && (fd < FD_FIRST_STREAM || fd > FD_LAST_STREAM))
                return false;
            plan->streams[index] = (struct stream){(enum stream_kind)kind, (int)fd};
            plan->pty = plan->pty || kind == STREAM_PTY;
            return true;
        }
    return false;
}

static bool set_copy(struct plan *plan, const struct record *r) {
    uint64_t index, fd;
    if (!field_number(&r->fields[1], &index) || index < 1 || index > 2 || !field_number(&r->fields[2], &fd) ||
        fd < FD_FIRST_COPY || fd > FD_LAST_COPY)
        return false;
    plan->copies[index].fd = (int)fd;
    return field_number(&r->fields[3], &plan->copies[index].room);
}

static bool set_refusals(struct plan *plan, const struct record *r) {
    const struct field *pairs = &r->fields[1];
    for (size_t i = 0; i + 4 <= pairs->len; i += 4) {
        const uint8_t *p = (const uint8_t *)pairs->at + i;
        unsigned call = (unsigned)p[0] | (unsigned)p[1] << 8;
        if (call >= MAX_SYSCALL || p[2] == 0)
            return false;
        plan->refusal_errno[call] = p[2];
    }
    return pairs->len % 4 == 0;
}

/* Ten bytes a call: its number, its kind, six argument places, and three bits: it does not follow links, its
 * path is a link, its path is a directory. */
static bool set_watched(struct plan *plan, const struct record *r) {
    const struct field *calls = &r->fields[1];
    enum { SIZE = 10, PLACES = 6, NOFOLLOW = 1, LINK = 2, DIRECTORY = 4 };
    for (size_t i = 0; i + SIZE <= calls->len; i += SIZE) {
        const uint8_t *p = (const uint8_t *)calls->at + i;
        unsigned call = (unsigned)p[0] | (unsigned)p[1] << 8;
        int8_t places[PLACES];
        for (int place = 0; place < PLACES; place++) {
            places[place] = (int8_t)p[3 + place];
            if (places[place] < -1 || places[place] > 5)
                return false;
        }
        uint8_t bits = p[3 + PLACES];
        if (call >= MAX_SYSCALL || p[2] == WATCH_NOT || p[2] >= WATCH_KINDS || bits > (NOFOLLOW | LINK | DIRECTORY))
            return false;
        plan->watched_calls[call] = (struct watched){p[2], places[0], places[1], places[2],
                                                     places[3], places[4], places[5],
                                                     bits & NOFOLLOW, bits & LINK, bits & DIRECTORY};
    }
    return calls->len % SIZE == 0;
}

/* Only in a plan without walls. */
static bool set_bare_flag(struct bare *bare, const char *flag) {
    if (strcmp(flag, "same-session") == 0)
        bare->same_session = true;
    else if (strcmp(flag, "inner") == 0)
        bare->inner = true;
    else if (bare->confined && strcmp(flag, "internet") == 0)
        bare->internet = true;
    else
        return false;
    return true;
}

static bool add_kept(struct plan *plan, const struct record *r) {
    struct bare *bare = &plan->bare;
    uint64_t fd;
    if (bare->kept_count == MAX_KEPT || !field_number(&r->fields[1], &fd) || fd <= FD_BLOCK || fd > INT_MAX - 1)
        return false;
    if (bare->kept_count && (int)fd <= bare->kept[bare->kept_count - 1])
        return false;
    bare->kept[bare->kept_count++] = (int)fd;
    return true;
}

static bool set_stage(struct plan *plan, const struct record *r) {
    plan->bare.stage = r->fields[1].at;
    return r->fields[1].at[0] == '/';
}

static bool add_staged(struct plan *plan, const struct record *r) {
    struct bare *bare = &plan->bare;
    if (bare->staged_count == MAX_STAGED || r->fields[1].at[0] != '/')
        return false;
    struct staged *staged = &bare->staged[bare->staged_count++];
    staged->path = r->fields[1].at;
    return field_number(&r->fields[2], &staged->device) && field_number(&r->fields[3], &staged->inode);
}

static bool add_place(struct plan *plan, const struct record *r) {
    struct bare *bare = &plan->bare;
    if (bare->place_count == MAX_PLACES || r->fields[1].at[0] != '/')
        return false;
    bare->places[bare->place_count++] = r->fields[1].at;
    return true;
}

static bool set_voice(struct plan *plan, const struct record *r) {
    plan->bare.voice = r->fields[1].at;
    return r->fields[1].len > 0 && r->fields[1].len < MAX_VOICE;
}

static bool set_discard(struct plan *plan, const struct record *r) {
    *(plan->discard ? &plan->discard_also : &plan->discard) = r->fields[1].at;
    return true;
}

static bool set_flag(struct plan *plan, const struct record *r) {
    const char *flag = r->fields[1].at;
    if (plan->bare.wanted && set_bare_flag(&plan->bare, flag))
        return true;
    if (strcmp(flag, "network") == 0)
        plan->own_network = true;
    else if (strcmp(flag, "living") == 0)
        plan->living = true;
    else if (strcmp(flag, "keep-session") == 0)
        plan->keep_session = true;
    else if (strcmp(flag, "notify") == 0)
        plan->notify = true;
    else if (strcmp(flag, "opens") == 0)
        plan->opens = true;
    else if (strcmp(flag, "no-preload") == 0)
        plan->no_preload = true;
    else if (strcmp(flag, "lookups") == 0)
        plan->lookups = true;
    else if (strcmp(flag, "trace") == 0)
        plan->trace = true;
    else if (strcmp(flag, "tail") == 0)
        plan->tail = true;
    else if (strcmp(flag, "trace-every") == 0)
        plan->trace = plan->trace_every = true;
    else if (strcmp(flag, "early-filter") == 0)
        plan->early_filter = true;
    else if (strcmp(flag, "cgroups") == 0)
        plan->cgroups = true;
    else if (strcmp(flag, "keyring") == 0)
        plan->require_keyring = true;
#ifdef WARDIAN_TEST_WALLS
    else if (wall_named(flag))
        plan->without |= wall_named(flag);
#endif
    else
        return false;
    return true;
}

static bool add_watched_place(struct plan *plan, const struct record *r) {
    if (plan->watched_count == MAX_WATCHED)
        return false;
    plan->watched[plan->watched_count++] = r->fields[1].at;
    return true;
}

static bool set_budget(struct plan *plan, const struct record *r) {
    uint64_t call, arg;
    if (!field_number(&r->fields[1], &call) || !field_number(&r->fields[2], &arg) || call >= MAX_SYSCALL || arg < 1 ||
        arg > 5)
        return false;
    plan->budget_call = (int)call;
    plan->budget_arg = (int)arg;
    return true;
}

static bool set_cgroup(struct plan *plan, const struct record *r) {
    plan->cgroup = r->fields[1].at;
    return r->fields[1].at[0] == '/';
}

static bool set_host_id(struct plan *plan, const struct record *r) {
    uint64_t id;
    if (!field_number(&r->fields[1], &id) || id < GUEST_IDS || id >= GUEST_IDS + GUEST_ID_COUNT)
        return false;
    plan->host_id = (uid_t)id;
    return true;
}

static bool set_identity(struct plan *plan, const struct record *r) {
    uint64_t uid, gid;
    if (!field_number(&r->fields[1], &uid) || !field_number(&r->fields[2], &gid) || uid > UINT_MAX - 2 ||
        gid > UINT_MAX - 2)
        return false;
    plan->uid = (uid_t)uid;
    plan->gid = (gid_t)gid;
    return true;
}

static bool set_parent(struct plan *plan, const struct record *r) {
    uint64_t pid;
    if (!field_number(&r->fields[1], &pid) || pid == 0 || pid > INT_MAX)
        return false;
    plan->parent = (pid_t)pid;
    return true;
}

static bool set_root(struct plan *plan, const struct record *r) {
    return field_number(&r->fields[1], &plan->root_bytes) && field_number(&r->fields[2], &plan->root_inodes);
}

static bool set_landlock(struct plan *plan, const struct record *r) {
    plan->landlock = true;
    return field_number(&r->fields[1], &plan->landlock_fs) && field_number(&r->fields[2], &plan->landlock_net) &&
           field_number(&r->fields[3], &plan->landlock_scoped);
}

static bool set_interface(struct plan *plan, const struct record *r) {
    uint64_t address;
    plan->interface = r->fields[1].at;
    if (r->fields[1].len == 0 || r->fields[1].len >= IFNAMSIZ || !field_number(&r->fields[2], &address) ||
        address > UINT32_MAX)
        return false;
    plan->interface_address = (uint32_t)address;
    return true;
}

enum { INSTRUCTION_BYTES = 8, MAX_FILTER = 4096 * INSTRUCTION_BYTES };

static bool set_filter(struct plan *plan, const struct record *r) {
    const struct field *program = &r->fields[1];
    plan->filter = (const uint8_t *)program->at;
    plan->filter_len = program->len;
    return program->len % INSTRUCTION_BYTES == 0 && program->len > 0 && program->len <= MAX_FILTER;
}

static bool set_verdict(struct plan *plan, const struct record *r) {
    const struct field *program = &r->fields[1];
    plan->verdict = (const uint8_t *)program->at;
    plan->verdict_len = program->len;
    return program->len % INSTRUCTION_BYTES == 0 && program->len <= MAX_FILTER;
}

enum taking { AS_ARG, AS_ENV, AS_STEP, AS_NUMBER, AS_TEXT, BY_FUNCTION };

/* Every record that there is. */
struct known {
    const char *name;
    uint8_t fields; /* the name included */
    bool binary;    /* else every argument must be free of inner NULs */
    bool bare;      /* only in a plan without walls */
    enum taking as;
    union {
        enum step_kind step;
        size_t at; /* in the plan: where the one argument goes */
        bool (*by)(struct plan *plan, const struct record *r);
    };
};

#define STEP(kind) .as = AS_STEP, .step = (kind)
#define NUMBER(field) .as = AS_NUMBER, .at = offsetof(struct plan, field)
#define TEXT(field) .as = AS_TEXT, .at = offsetof(struct plan, field)
#define BY(function) .as = BY_FUNCTION, .by = (function)

static const struct known known[] = {
    {"acted", 2, .binary = true, .bare = true, BY(set_acted)},
    {"arg", 2, .as = AS_ARG},
    {"bind", 4, STEP(STEP_BIND)},
    {"budget", 3, BY(set_budget)},
    {"cgroup", 2, BY(set_cgroup)},
    {"copy", 4, BY(set_copy)},
    {"cpu-ms", 2, NUMBER(cpu_ms)},
    {"cwd", 2, TEXT(cwd)},
    {"devpts", 3, STEP(STEP_DEVPTS)},
    {"dir", 3, STEP(STEP_DIR)},
    {"discard", 2, BY(set_discard)},
    {"disk", 2, NUMBER(disk_bytes)},
    {"env", 2, .as = AS_ENV},
    {"file", 4, .binary = true, STEP(STEP_FILE)},
    {"filter", 2, .binary = true, BY(set_filter)},
    {"flag", 2, BY(set_flag)},
    {"home", 2, TEXT(home)},
    {"host-id", 2, BY(set_host_id)},
    {"hostname", 2, TEXT(hostname)},
    {"identity", 3, BY(set_identity)},
    {"inodes", 2, .bare = true, NUMBER(bare.inodes)},
    {"interface", 3, BY(set_interface)},
    {"keep", 2, .bare = true, BY(add_kept)},
    {"landlock", 4, BY(set_landlock)},
    {"mask", 2, STEP(STEP_MASK)},
    {"memory", 2, NUMBER(memory_bytes)},
    {"mqueue", 2, STEP(STEP_MQUEUE)},
    {"only", 3, STEP(STEP_ONLY)},
    {"output", 2, NUMBER(output_bytes)},
    {"parent", 2, BY(set_parent)},
    {"path", 2, TEXT(path)},
    {"place", 2, .bare = true, BY(add_place)},
    {"private", 3, STEP(STEP_PRIVATE)},
    {"proc", 2, STEP(STEP_PROC)},
    {"processes", 2, NUMBER(process_limit)},
    {"quota", 5, BY(add_quota)},
    {"refusals", 2, .binary = true, BY(set_refusals)},
    {"rlimit", 3, BY(add_rlimit)},
    {"root", 3, BY(set_root)},
    {"route", 4, .binary = true, BY(add_route)},
    {"rule", 3, BY(add_rule)},
    {"shm", 2, .bare = true, BY(set_shm)},
    {"stage", 2, .bare = true, BY(set_stage)},
    {"staged", 4, .bare = true, BY(add_staged)},
    {"stream", 4, BY(set_stream)},
    {"symlink", 3, STEP(STEP_SYMLINK)},
    {"sysctl", 3, STEP(STEP_SYSCTL)},
    {"unused-ms", 2, NUMBER(unused_ms)},
    {"verdict", 2, .binary = true, BY(set_verdict)},
    {"voice", 2, .bare = true, BY(set_voice)},
    {"wall-ms", 2, NUMBER(wall_ms)},
    {"watch", 2, BY(add_watched_place)},
    {"watched", 2, .binary = true, BY(set_watched)},
};

static const struct known *known_as(const struct plan *plan, const struct record *r) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(r->fields[0].at, known[i].name) != 0)
            continue;
        bool good = r->count == known[i].fields && (plan->bare.wanted || !known[i].bare);
        for (size_t f = 1; good && !known[i].binary && f < r->count; f++)
            good = field_is_text(&r->fields[f]);
        return good ? &known[i] : NULL;
    }
    return NULL;
}

bool take_record(struct plan *plan, const struct record *r, struct vectors *vectors) {
    const struct known *record = known_as(plan, r);
    const struct field *f = r->fields;
    if (!record)
        return false;
    switch (record->as) {
    case AS_ARG:
        plan->argv[vectors->args++] = (char *)(uintptr_t)f[1].at;
        return true;
    case AS_ENV:
        plan->envp[vectors->envs++] = (char *)(uintptr_t)f[1].at;
        return true;
    case AS_STEP:
        return add_step(plan, record->step, r);
    case AS_NUMBER:
        return field_number(&f[1], (void *)((char *)plan + record->at));
    case AS_TEXT:
        *(const char **)(void *)((char *)plan + record->at) = f[1].at;
        return true;
    case BY_FUNCTION:
        return record->by(plan, r);
    }
    return false;
}
