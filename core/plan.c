/* Reading the plan: the caller decided everything; this only unpacks it, and trusts no length.
 *
 * A plan is the line "wardian-plan 1\n" (or "wardian-bare 1\n": bare.h), then records. A record is one byte, the number of its
 * fields, then each field as a 32-bit little-endian length, its bytes, and a NUL. The first field
 * names the record, the rest are its arguments. Arguments that are numbers are decimal text.
 */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_FIELDS = 6, MAX_PLAN = 16 << 20 };

static const char magic[] = "wardian-plan 1\n";
/* Not a record, so that no record can turn a plan with walls into one without. */
static const char bare_magic[] = "wardian-bare 1\n";

/* What the plan points into lives here, so that the supervisor can give it all back at once. */
static struct {
    uint8_t *bytes;
    size_t bytes_size;
    uint8_t *arena;
    size_t arena_size, arena_used;
} storage;

struct field {
    const char *at;
    size_t len;
};

struct record {
    struct field fields[MAX_FIELDS];
    size_t count;
};

struct cursor {
    const uint8_t *at, *end;
};

static bool next_field(struct cursor *cursor, struct field *field) {
    if (cursor->end - cursor->at < 4)
        return false;
    const uint8_t *p = cursor->at;
    uint32_t len = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if ((size_t)(cursor->end - p) - 4 < (size_t)len + 1 || p[4 + (size_t)len] != 0)
        return false;
    *field = (struct field){(const char *)p + 4, len};
    cursor->at = p + 5 + (size_t)len;
    return true;
}

static bool next_record(struct cursor *cursor, struct record *record) {
    record->count = *cursor->at++;
    if (record->count == 0 || record->count > MAX_FIELDS)
        return false;
    for (size_t i = 0; i < record->count; i++)
        if (!next_field(cursor, &record->fields[i]))
            return false;
    return true;
}

static bool number(const struct field *field, uint64_t *value) {
    if (field->len == 0 || field->len > 20)
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < field->len; i++) {
        unsigned digit = (unsigned)(field->at[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10U, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* A C string argument must not hide anything behind an inner NUL. */
static bool whole(const struct field *field) { return strlen(field->at) == field->len; }

static void *carve(size_t size) {
    size_t at = (storage.arena_used + 15) & ~(size_t)15;
    if (at + size > storage.arena_size)
        return NULL;
    storage.arena_used = at + size;
    return storage.arena + at;
}

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
        return number(&f[2], &step->number);
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
        return number(&f[3], &step->number);
    case STEP_DIR:
    case STEP_PRIVATE:
    case STEP_DEVPTS:
        step->path = f[1].at;
        return number(&f[2], &step->number);
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
    return number(&r->fields[2], &rule->access);
}

static bool add_rlimit(struct plan *plan, const struct record *r) {
    uint64_t resource;
    if (plan->rlimit_count == MAX_RLIMITS || !number(&r->fields[1], &resource) || resource > 64)
        return false;
    plan->rlimits[plan->rlimit_count].resource = (int)resource;
    return number(&r->fields[2], &plan->rlimits[plan->rlimit_count++].value);
}

static bool add_quota(struct plan *plan, const struct record *r) {
    uint64_t call, arg, uncounted;
    if (plan->quota_count == MAX_QUOTAS || !number(&r->fields[1], &call) || call >= MAX_SYSCALL ||
        !number(&r->fields[2], &arg) || arg > 5 || !number(&r->fields[4], &uncounted) || uncounted > 1)
        return false;
    struct quota *quota = &plan->quotas[plan->quota_count++];
    quota->call = (int)call;
    quota->arg = (int)arg;
    quota->uncounted = uncounted;
    return number(&r->fields[3], &quota->most);
}

static bool set_stream(struct plan *plan, const struct record *r) {
    static const char *const kinds[] = {"null", "direct", "relay", "pty"};
    uint64_t index, fd;
    if (!number(&r->fields[1], &index) || index > 2 || !number(&r->fields[3], &fd))
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
    if (!number(&r->fields[1], &index) || index < 1 || index > 2 || !number(&r->fields[2], &fd) ||
        fd < FD_FIRST_COPY || fd > FD_LAST)
        return false;
    plan->copies[index].fd = (int)fd;
    return number(&r->fields[3], &plan->copies[index].room);
}

static bool set_refusals(struct plan *plan, const struct field *pairs) {
    for (size_t i = 0; i + 4 <= pairs->len; i += 4) {
        const uint8_t *p = (const uint8_t *)pairs->at + i;
        unsigned call = (unsigned)p[0] | (unsigned)p[1] << 8;
        if (call >= MAX_SYSCALL || p[2] == 0)
            return false;
        plan->refusal_errno[call] = p[2];
    }
    return pairs->len % 4 == 0;
}

/* Ten bytes a call: its number, its kind, six argument places, and three bits: it does not follow
 * links, its path is a link, its path is a directory. */
static bool set_watched(struct plan *plan, const struct field *calls) {
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

/* What only a plan without walls has. */
static bool set_bare_flag(struct bare *bare, const char *flag) {
    if (strcmp(flag, "same-session") == 0)
        bare->same_session = true;
    else if (strcmp(flag, "inner") == 0)
        bare->inner = true;
    else
        return false;
    return true;
}

static bool add_kept(struct bare *bare, const struct record *r) {
    uint64_t fd;
    if (bare->kept_count == MAX_KEPT || !number(&r->fields[1], &fd) || fd <= FD_BLOCK || fd > INT_MAX - 1)
        return false;
    if (bare->kept_count && (int)fd <= bare->kept[bare->kept_count - 1])
        return false;
    bare->kept[bare->kept_count++] = (int)fd;
    return true;
}

static bool add_staged(struct bare *bare, const struct record *r) {
    if (bare->staged_count == MAX_STAGED || r->fields[1].at[0] != '/')
        return false;
    struct staged *staged = &bare->staged[bare->staged_count++];
    staged->path = r->fields[1].at;
    return number(&r->fields[2], &staged->device) && number(&r->fields[3], &staged->inode);
}

static bool add_place(struct bare *bare, const char *path) {
    if (bare->place_count == MAX_PLACES || path[0] != '/')
        return false;
    bare->places[bare->place_count++] = path;
    return true;
}

static bool set_flag(struct plan *plan, const char *flag) {
    if (plan->bare.wanted && set_bare_flag(&plan->bare, flag))
        return true;
    if (strcmp(flag, "network") == 0)
        plan->own_network = true;
    else if (strcmp(flag, "keep-session") == 0)
        plan->keep_session = true;
    else if (strcmp(flag, "notify") == 0)
        plan->notify = true;
    else if (strcmp(flag, "opens") == 0)
        plan->opens = true;
    else if (strcmp(flag, "lookups") == 0)
        plan->lookups = true;
    else if (strcmp(flag, "trace") == 0)
        plan->trace = true;
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

enum record_name {
    R_ARG, R_BIND, R_BUDGET, R_CGROUP, R_COPY, R_CPU, R_CWD, R_DEVPTS, R_DIR, R_DISCARD, R_DISK, R_ENV, R_FILE, R_FILTER, R_FLAG,
    R_HOME, R_HOST_ID, R_HOSTNAME, R_IDENTITY, R_INODES, R_KEEP, R_LANDLOCK, R_MASK, R_MEMORY, R_MQUEUE, R_ONLY, R_OUTPUT, R_PARENT, R_PATH, R_PLACE, R_PRIVATE,
    R_PROC, R_PROCESSES, R_QUOTA, R_REFUSALS, R_RLIMIT, R_RULE, R_ROOT, R_STAGE, R_STAGED, R_STREAM, R_SYMLINK, R_SYSCTL,
    R_VERDICT, R_VOICE, R_WALL, R_WATCH, R_WATCHED
};

static const struct {
    const char *name;
    uint8_t fields; /* the name included */
    bool text;      /* every argument must be free of inner NULs */
} known[] = {
    [R_ARG] = {"arg", 2, true},           [R_BIND] = {"bind", 4, true},
    [R_BUDGET] = {"budget", 3, true},     [R_CGROUP] = {"cgroup", 2, true},
    [R_COPY] = {"copy", 4, true},
    [R_CPU] = {"cpu-ms", 2, true},
    [R_CWD] = {"cwd", 2, true},           [R_DEVPTS] = {"devpts", 3, true},
    [R_DIR] = {"dir", 3, true},           [R_DISCARD] = {"discard", 2, true},
    [R_DISK] = {"disk", 2, true},
    [R_ENV] = {"env", 2, true},           [R_FILE] = {"file", 4, false},
    [R_FILTER] = {"filter", 2, false},    [R_FLAG] = {"flag", 2, true},
    [R_HOME] = {"home", 2, true},         [R_HOST_ID] = {"host-id", 2, true},   [R_HOSTNAME] = {"hostname", 2, true},
    [R_IDENTITY] = {"identity", 3, true},
    [R_INODES] = {"inodes", 2, true}, [R_KEEP] = {"keep", 2, true},
    [R_LANDLOCK] = {"landlock", 4, true}, [R_MASK] = {"mask", 2, true},
    [R_MEMORY] = {"memory", 2, true},     [R_MQUEUE] = {"mqueue", 2, true},
    [R_ONLY] = {"only", 3, true},
    [R_OUTPUT] = {"output", 2, true},
    [R_PARENT] = {"parent", 2, true},     [R_PATH] = {"path", 2, true},
    [R_PLACE] = {"place", 2, true},
    [R_PRIVATE] = {"private", 3, true},   [R_PROC] = {"proc", 2, true},
    [R_PROCESSES] = {"processes", 2, true}, [R_QUOTA] = {"quota", 5, true},
    [R_REFUSALS] = {"refusals", 2, false},
    [R_RLIMIT] = {"rlimit", 3, true},     [R_RULE] = {"rule", 3, true},
    [R_ROOT] = {"root", 3, true},
    [R_STAGE] = {"stage", 2, true}, [R_STAGED] = {"staged", 4, true},
    [R_STREAM] = {"stream", 4, true},
    [R_SYMLINK] = {"symlink", 3, true},   [R_SYSCTL] = {"sysctl", 3, true},
    [R_VERDICT] = {"verdict", 2, false},  [R_VOICE] = {"voice", 2, true},
    [R_WALL] = {"wall-ms", 2, true},      [R_WATCH] = {"watch", 2, true},
    [R_WATCHED] = {"watched", 2, false},
};

/* Only in a plan without walls. */
static bool is_bare(enum record_name name) {
    return name == R_INODES || name == R_KEEP || name == R_PLACE || name == R_STAGE || name == R_STAGED || name == R_VOICE;
}

static int record_name(const struct plan *plan, const struct record *r) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(r->fields[0].at, known[i].name) != 0)
            continue;
        if (r->count != known[i].fields || (is_bare((enum record_name)i) && !plan->bare.wanted))
            return -1;
        for (size_t f = 1; known[i].text && f < r->count; f++)
            if (!whole(&r->fields[f]))
                return -1;
        return (int)i;
    }
    return -1;
}

static bool take_number_into(const struct record *r, uint64_t *value) {
    return number(&r->fields[1], value);
}

static bool take_bare(struct bare *bare, enum record_name name, const struct record *r) {
    const struct field *argument = &r->fields[1];
    if (name == R_KEEP)
        return add_kept(bare, r);
    if (name == R_STAGED)
        return add_staged(bare, r);
    if (name == R_PLACE)
        return add_place(bare, argument->at);
    if (name == R_INODES)
        return number(argument, &bare->inodes);
    if (name == R_STAGE) {
        bare->stage = argument->at;
        return argument->at[0] == '/';
    }
    bare->voice = argument->at;
    return argument->len > 0 && argument->len < MAX_VOICE;
}

struct vectors {
    size_t args, envs;
};

static bool take(struct plan *plan, const struct record *r, struct vectors *vectors) {
    const struct field *f = r->fields;
    uint64_t a, b;
    enum record_name name = (enum record_name)record_name(plan, r);
    switch (name) {
    case R_ARG:
        plan->argv[vectors->args++] = (char *)(uintptr_t)f[1].at;
        return true;
    case R_ENV:
        plan->envp[vectors->envs++] = (char *)(uintptr_t)f[1].at;
        return true;
    case R_BIND:
        return add_step(plan, STEP_BIND, r);
    case R_DEVPTS:
        return add_step(plan, STEP_DEVPTS, r);
    case R_DIR:
        return add_step(plan, STEP_DIR, r);
    case R_FILE:
        return add_step(plan, STEP_FILE, r);
    case R_MASK:
        return add_step(plan, STEP_MASK, r);
    case R_MQUEUE:
        return add_step(plan, STEP_MQUEUE, r);
    case R_ONLY:
        return add_step(plan, STEP_ONLY, r);
    case R_PRIVATE:
        return add_step(plan, STEP_PRIVATE, r);
    case R_PROC:
        plan->own_proc = true;
        return add_step(plan, STEP_PROC, r);
    case R_ROOT:
        return number(&f[1], &plan->root_bytes) && number(&f[2], &plan->root_inodes);
    case R_SYMLINK:
        return add_step(plan, STEP_SYMLINK, r);
    case R_SYSCTL:
        return add_step(plan, STEP_SYSCTL, r);
    case R_DISCARD:
        *(plan->discard ? &plan->discard_also : &plan->discard) = f[1].at;
        return true;
    case R_HOME:
        plan->home = f[1].at;
        return true;
    case R_BUDGET:
        if (!number(&f[1], &a) || !number(&f[2], &b) || a >= MAX_SYSCALL || b < 1 || b > 5)
            return false;
        plan->budget_call = (int)a;
        plan->budget_arg = (int)b;
        return true;
    case R_CGROUP:
        plan->cgroup = f[1].at;
        return f[1].at[0] == '/';
    case R_COPY:
        return set_copy(plan, r);
    case R_CWD:
        plan->cwd = f[1].at;
        return true;
    case R_HOST_ID:
        if (!number(&f[1], &a) || a < GUEST_IDS || a >= GUEST_IDS + GUEST_ID_COUNT)
            return false;
        plan->host_id = (uid_t)a;
        return true;
    case R_HOSTNAME:
        plan->hostname = f[1].at;
        return true;
    case R_PATH:
        plan->path = f[1].at;
        return true;
    case R_FLAG:
        return set_flag(plan, f[1].at);
    case R_FILTER:
        plan->filter = (const uint8_t *)f[1].at;
        plan->filter_len = f[1].len;
        return f[1].len % 8 == 0 && f[1].len > 0 && f[1].len / 8 <= 4096;
    case R_VERDICT:
        plan->verdict = (const uint8_t *)f[1].at;
        plan->verdict_len = f[1].len;
        return f[1].len % 8 == 0 && f[1].len / 8 <= 4096;
    case R_WATCHED:
        return set_watched(plan, &f[1]);
    case R_REFUSALS:
        return set_refusals(plan, &f[1]);
    case R_IDENTITY:
        if (!number(&f[1], &a) || !number(&f[2], &b) || a > UINT_MAX - 2 || b > UINT_MAX - 2)
            return false;
        plan->uid = (uid_t)a;
        plan->gid = (gid_t)b;
        return true;
    case R_LANDLOCK:
        plan->landlock = true;
        return number(&f[1], &plan->landlock_fs) && number(&f[2], &plan->landlock_net) &&
               number(&f[3], &plan->landlock_scoped);
    case R_PARENT:
        if (!number(&f[1], &a) || a == 0 || a > INT_MAX)
            return false;
        plan->parent = (pid_t)a;
        return true;
    case R_QUOTA:
        return add_quota(plan, r);
    case R_RLIMIT:
        return add_rlimit(plan, r);
    case R_RULE:
        return add_rule(plan, r);
    case R_STREAM:
        return set_stream(plan, r);
    case R_WATCH:
        if (plan->watched_count == MAX_WATCHED)
            return false;
        plan->watched[plan->watched_count++] = f[1].at;
        return true;
    case R_INODES:
    case R_KEEP:
    case R_PLACE:
    case R_STAGE:
    case R_STAGED:
    case R_VOICE:
        return take_bare(&plan->bare, name, r);
    case R_CPU:
        return take_number_into(r, &plan->cpu_ms);
    case R_DISK:
        return take_number_into(r, &plan->disk_bytes);
    case R_MEMORY:
        return take_number_into(r, &plan->memory_bytes);
    case R_OUTPUT:
        return take_number_into(r, &plan->output_bytes);
    case R_PROCESSES:
        return take_number_into(r, &plan->process_limit);
    case R_WALL:
        return take_number_into(r, &plan->wall_ms);
    }
    return false;
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

/* Every wall is asked for, but where the plan says that it is one without. */
static bool complete(const struct plan *plan, const char **problem) {
    bool runs = plan->parent && plan->argv[0] && plan->cwd && plan->path;
    if (!plan->bare.wanted) {
        *problem = "it lacks a parent, a command, a filter or an identity";
        return runs && plan->filter && plan->uid && plan->gid && plan->root_bytes && plan->hostname;
    }
    /* What can't be had without a root or namespaces of ours is not passed over in silence. */
    *problem = "it has no walls of ours, and asks for one; or it lacks a parent or a command";
    bool asks = plan->step_count || plan->root_bytes || plan->hostname || plan->own_network || plan->host_id ||
                plan->notify || plan->trace || plan->opens || plan->lookups || plan->early_filter ||
                plan->verdict_len || plan->quota_count || plan->budget_call >= 0 || plan->require_keyring;
    return runs && !asks && !plan->uid == !plan->gid && !plan->bare.stage == !plan->bare.staged_count;
}

bool plan_parse(struct plan *plan, const uint8_t *bytes, size_t len, const char **problem) {
    *plan = (struct plan){.budget_call = -1};
    struct cursor cursor = {bytes, bytes + len};
    struct vectors counts = {0}, taken = {0};
    *problem = "it is not a plan of this version";
    _Static_assert(sizeof magic == sizeof bare_magic, "they are read alike");
    if (len < sizeof magic - 1)
        return false;
    plan->bare.wanted = memcmp(bytes, bare_magic, sizeof magic - 1) == 0;
    if (!plan->bare.wanted && memcmp(bytes, magic, sizeof magic - 1) != 0)
        return false;
    cursor.at += sizeof magic - 1;
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
        if (!take(plan, &r, &taken))
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
