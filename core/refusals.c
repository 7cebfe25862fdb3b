/* The list of refusals, each once with a count, reported at the end of the run. */
#define _GNU_SOURCE
#include "fortify.h"
#include "refusals.h"
#include "call.h"
#include "commands.h"
#include "hash.h"
#include "host_paths.h"
#include "limits.h"
#include "monotonic.h"
#include "ports.h"
#include "processes.h"
#include "status.h"
#include "tags.h"
#include "tasks.h"

#include <errno.h>
#include <linux/limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* Each group has a table of its own, so that a flood of one kind displaces no other. Programs look for
 * missing files by the thousand: once that group is full, only files that exist on the host are recorded, and
 * a few that can't be looked up at once. */
enum group { ABSENT, FOUND, UNCERTAIN, FILTERED, READ_ONLY, MASKED, NETWORK, NAMES, SIGNALS, LIMITS, GROUPS };
static const struct {
    uint16_t most;
    uint32_t room; /* bytes of text */
} budgets[GROUPS] = {
    [ABSENT] = {768, 3 << 16}, [FOUND] = {256, 1 << 16},  [UNCERTAIN] = {128, 1 << 15}, [FILTERED] = {512, 1 << 16},
    [READ_ONLY] = {1024, 1 << 18}, [MASKED] = {256, 1 << 16}, [NETWORK] = {512, 1 << 16},
    [NAMES] = {512, 1 << 16},  [SIGNALS] = {256, 1 << 12}, [LIMITS] = {256, 1 << 12},
};
enum { MAX_REFUSALS = 768 + 256 + 128 + 512 + 1024 + 256 + 512 + 512 + 256 + 256, TEXT_ROOM = 1 << 20 };
static struct {
    size_t count, text;
} used[GROUPS];

struct refusal {
    uint64_t command; /* of a living sandbox; else 0 */
    uint32_t hash;
    int call;
    enum hindrance by;
    enum group group;
    int process;
    pid_t task; /* the last process that asked, once it was reported */
    int64_t at_us;
    uint64_t args[6];
    uint64_t count;
    uint32_t text, other; /* where in the texts; 0: none */
    uint32_t text_len, other_len;
};

static struct refusal refusals[MAX_REFUSALS];
static size_t refusal_count;
static uint16_t by_hash[4 * MAX_REFUSALS]; /* 1 + the place in the list */
static uint64_t not_remembered;
static char texts[TEXT_ROOM];
static uint32_t text_used = 1;
static int64_t began_us;

void refusals_begin(void) { began_us = now_us(); }

static uint32_t keep(const char *text, size_t len) {
    if (len == 0 || text_used + len > sizeof texts)
        return 0;
    memcpy(texts + text_used, text, len);
    text_used += (uint32_t)len;
    return text_used - (uint32_t)len;
}

static bool same_text(uint32_t at, uint32_t at_len, const char *text, size_t len) {
    return at_len == len && memcmp(texts + at, text, len) == 0;
}

/* Its place in the list, or the free slot of by_hash where it belongs. */
static struct refusal *find(const struct refusal *wanted, const char *text, const char *other, size_t *slot) {
    enum { SLOTS = sizeof by_hash / sizeof *by_hash };
    for (*slot = wanted->hash % SLOTS; by_hash[*slot]; *slot = (*slot + 1) % SLOTS) {
        struct refusal *one = &refusals[by_hash[*slot] - 1];
        if (one->hash == wanted->hash && one->command == wanted->command && one->call == wanted->call && one->by == wanted->by &&
            same_text(one->text, one->text_len, text, wanted->text_len) &&
            same_text(one->other, one->other_len, other, wanted->other_len))
            return one;
    }
    return NULL;
}

static enum group group_of(enum hindrance by) {
    switch (by) {
    case BY_FILTER:
        return FILTERED;
    case BY_READ_ONLY:
        return READ_ONLY;
    case BY_MASK:
        return MASKED;
    case BY_NETWORK:
        return NETWORK;
    case BY_NAME:
        return NAMES;
    case BY_PID:
        return SIGNALS;
    case BY_LIMIT:
        return LIMITS;
    default:
        return ABSENT;
    }
}

/* A command that floods leaves a quarter of the table to others that run at the same time. */
static bool has_share(enum group group, uint64_t command, size_t len) {
    size_t count = 0, text = 0;
    if (!command)
        return true;
    for (size_t i = 0; i < refusal_count; i++)
        if (refusals[i].group == group && refusals[i].command == command) {
            count++;
            text += refusals[i].text_len + refusals[i].other_len;
        }
    return 4 * count < 3 * (budgets[group].most - (used[group].count - count)) &&
           4 * (text + len) <= 3 * (budgets[group].room - (used[group].text - text));
}

static bool has_room(enum group group, size_t len) {
    return used[group].count < budgets[group].most && used[group].text + len <= budgets[group].room &&
           refusal_count < MAX_REFUSALS && text_used + len <= sizeof texts;
}

/* The group of a missing path once its own is full; GROUPS: none. */
static enum group second_group(enum hindrance by, const char *text) {
    char place[PATH_MAX];
    size_t len = strlen(text);
    if (len >= sizeof place)
        return UNCERTAIN;
    memcpy(place, text, len + 1);
    char *slash = by == BY_NO_PLACE ? strrchr(place, '/') : NULL; /* its directory must exist */
    if (slash)
        *slash = '\0';
    int error = look_on_host(place);
    return error == 0 ? FOUND : error == ENOENT || error == ENOTDIR ? GROUPS : UNCERTAIN;
}

/* Reported as it happens, because a package tool may retry for a minute: a network that a process could not
 * reach, once per process and up to a maximum. */
static void announce(struct refusal *r, const struct call *call) {
    enum { MOST = 64, MAX_TEXT = 256 };
    static char shown[6 * MAX_TEXT + 8];
    static unsigned announced;
    if (announced == MOST || r->text_len > MAX_TEXT || r->task == call->task)
        return;
    int process = r->task ? process_of(call->task) : r->process;
    bool again = r->task && process == r->process;
    r->task = call->task;
    if (again || !process_announce(process))
        return;
    announced++;
    json_escape(shown, sizeof shown, texts + r->text, r->text_len);
    emit_at_once("{\"event\":\"unreached\",\"by\":\"%s\",\"process\":%d,\"text\":\"%s\"}",
                 (const char[]){(char)r->by, 0}, process, shown);
}

static bool is_elsewhere(const struct refusal *r) {
    return r->by == BY_NAME || (r->by == BY_NETWORK && r->call != SYS_bind &&
                                !same_text(r->other, r->other_len, TO_LOOPBACK, strlen(TO_LOOPBACK)));
}

/* Looked up once for a burst of calls by the same task. */
static uint64_t command_of(pid_t task) {
    enum { FRESH_US = 50000 };
    static pid_t known_task;
    static uint64_t known;
    static int64_t until_us;
    if (!commands_on() || task == 0)
        return 0;
    if (task != known_task || now_us() > until_us) {
        known = tag_of(task);
        known_task = task;
        until_us = now_us() + FRESH_US;
    }
    return known;
}

static void announce_to_its_caller(struct refusal *r, const struct call *call) {
    commands_status(r->command);
    announce(r, call);
    status_to_caller();
}

void remember(const struct call *call, enum hindrance by, const char *text, size_t len, const char *other) {
    if (!other)
        other = "";
    struct refusal fresh = {.command = command_of(call->task), .call = call->number, .by = by, .count = 1, .text_len = (uint32_t)len,
                            .other_len = (uint32_t)strlen(other)};
    if (fresh.command && !commands_known(fresh.command))
        return; /* left running by a command that has ended: nobody receives it */
    fresh.hash = hash_bytes(hash_bytes(HASH_START, text, len), other, fresh.other_len);
    fresh.hash = hash_number(fresh.hash, (uint32_t)fresh.call) ^ (uint32_t)by;
    fresh.hash = hash_number(fresh.hash, (uint32_t)fresh.command);
    if (by == BY_FILTER)
        fresh.hash = hash_bytes(fresh.hash, (const char *)call->args, sizeof call->args[0]);
    size_t slot;
    struct refusal *known = find(&fresh, text, other, &slot);
    if (known) {
        known->count++;
        if (is_elsewhere(known))
            announce_to_its_caller(known, call);
        return;
    }
    enum group group = group_of(by);
    if (group == ABSENT && !(has_room(group, len) && has_share(group, fresh.command, len)))
        group = second_group(by, text);
    if (group == GROUPS || !has_room(group, len + fresh.other_len) ||
        !has_share(group, fresh.command, len + fresh.other_len)) {
        not_remembered++;
        return;
    }
    used[group].count++;
    used[group].text += len + fresh.other_len;
    fresh.group = group;
    fresh.at_us = now_us() - (fresh.command ? commands_began_us(fresh.command) : began_us);
    memcpy(fresh.args, call->args, sizeof fresh.args);
    fresh.text = keep(text, len);
    fresh.other = keep(other, fresh.other_len);
    fresh.process = process_of(call->task);
    refusals[refusal_count++] = fresh;
    by_hash[slot] = (uint16_t)refusal_count;
    if (is_elsewhere(&fresh))
        announce_to_its_caller(&refusals[refusal_count - 1], call);
}

void remember_limit(const struct call *call, const char *name, uint64_t needed) {
    char text[24] = "";
    if (needed)
        snprintf(text, sizeof text, "%llu", (unsigned long long)needed);
    remember(call, BY_LIMIT, name, strlen(name), text);
}

void refusals_limit(const char *name, pid_t inside) {
    struct call none = {.task = -inside, .number = -1};
    for (size_t i = 0; i < refusal_count; i++)
        if (refusals[i].by == BY_LIMIT && same_text(refusals[i].text, refusals[i].text_len, name, strlen(name)))
            return;
    remember_limit(&none, name, 0);
}

/* The process was not known yet when it was first asked for. */
static bool became_own(const struct refusal *r) {
    struct sockaddr_in address;
    if (r->by != BY_NETWORK || !same_text(r->other, r->other_len, TO_LOOPBACK, strlen(TO_LOOPBACK)) ||
        r->call == SYS_bind || r->text_len < sizeof address)
        return false;
    memcpy(&address, texts + r->text, sizeof address);
    return is_own_port(ntohs(address.sin_port));
}

static void report_one(const struct refusal *r) {
    static char text[6 * PATH_MAX + 8], other[6 * PATH_MAX + 8];
    json_escape(text, sizeof text, texts + r->text, r->text_len);
    json_escape(other, sizeof other, texts + r->other, r->other_len);
    emit("{\"event\":\"refused\",\"call\":%d,\"by\":\"%s\",\"process\":%d,\"count\":%llu,\"at_us\":%lld,"
         "\"args\":\"%llu %llu %llu %llu %llu %llu\",\"text\":\"%s\",\"other\":\"%s\"}",
         r->call, (const char[]){(char)r->by, 0}, r->process, (unsigned long long)r->count, (long long)r->at_us,
         (unsigned long long)r->args[0], (unsigned long long)r->args[1],
         (unsigned long long)r->args[2], (unsigned long long)r->args[3],
         (unsigned long long)r->args[4], (unsigned long long)r->args[5], text, other);
}

/* Refusals without a command, such as a limit of the whole sandbox, are reported to every command. */
static bool concerns(const struct refusal *r, uint64_t command) { return !r->command || r->command == command; }

void refusals_report(uint64_t command) {
    if (limits_space_full())
        refusals_limit("disk", 0);
    bool some = false;
    for (size_t i = 0; i < refusal_count && !some; i++)
        some = concerns(&refusals[i], command);
    if (some || !command)
        processes_report();
    for (size_t i = 0; i < refusal_count; i++)
        if (concerns(&refusals[i], command) && !became_own(&refusals[i]))
            report_one(&refusals[i]);
    uint64_t more = not_remembered + tasks_missed() + status_lost();
    status_closing();
    if (more)
        emit("{\"event\":\"refused-more\",\"count\":%llu}", (unsigned long long)more);
    if (command)
        refusals_forget(command);
}

/* Compacts the rest, texts included. */
void refusals_forget(uint64_t command) {
    size_t kept = 0;
    uint32_t text = 1;
    memset(by_hash, 0, sizeof by_hash);
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < refusal_count; i++) {
        struct refusal r = refusals[i];
        if (concerns(&r, command))
            continue;
        uint32_t *const places[] = {&r.text, &r.other};
        const uint32_t lengths[] = {r.text_len, r.other_len};
        for (int k = 0; k < 2; k++)
            if (*places[k]) {
                for (uint32_t at = 0; at < lengths[k]; at++) /* towards the start, so in this order */
                    texts[text + at] = texts[*places[k] + at];
                *places[k] = text;
                text += lengths[k];
            }
        used[r.group].count++;
        used[r.group].text += r.text_len + r.other_len;
        refusals[kept++] = r;
        size_t slot;
        find(&r, texts + r.text, texts + r.other, &slot);
        by_hash[slot] = (uint16_t)kept;
    }
    refusal_count = kept;
    text_used = text;
    not_remembered = 0;
    tasks_forget_missed(0);
    if (!kept)
        processes_forget();
}
