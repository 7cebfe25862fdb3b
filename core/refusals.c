/* Answering the calls that reach the supervisor, and remembering those that came to nothing.
 *
 * Two kinds reach it, and verdict.c tells them apart by their registers. Calls that the filter refuses
 * are answered no, whatever the guest changes meanwhile; three may go on after all, by a
 * number in a register: fallocate while its lengths fit the disk limit, io_setup and vmsplice while
 * theirs fit a quota of the run's. Calls that are only watched go on: mounts, namespaces
 * and Landlock decide about them, and all that is done here is to note what they will run into. */
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, uint64_t)
#endif

enum { MAX_ADDRESS = 128, LOW_PORTS = 1024, ASLEEP_TRIES = 200, MAX_MESSAGES = 1024 };

/* What stands in the way, as the caller's side reads it (sandbox/refusals/reading.py). */
enum hindrance {
    UNHINDERED = 0,
    BY_FILTER = 'f',
    BY_ABSENCE = 'm',   /* not in the guest's root, and not missing from something shared either */
    BY_NO_PLACE = 'c',  /* the same of the directory that it would be made in */
    BY_READ_ONLY = 'r',
    BY_MASK = 'k',
    BY_NETWORK = 'n',
    BY_NAME = 'd',      /* a name that was asked for, and nobody to ask */
    BY_PID = 'p',
    BY_LIMIT = 'l',
};

/* Each group has room of its own, so that a flood of one kind pushes out nothing of another. What is
 * merely missing, programs look for by the thousand. Once that group is full, only what the host has
 * is worth remembering, and a little of what can't be looked up at once. */
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
    uint32_t hash;
    int call;
    enum hindrance by;
    int process;
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

static uint32_t keep(const char *text, size_t len) {
    if (len == 0 || text_used + len > sizeof texts)
        return 0;
    memcpy(texts + text_used, text, len);
    text_used += (uint32_t)len;
    return text_used - (uint32_t)len;
}

/* What a call is about, read before it goes on. */
struct subject {
    struct call call;
    const struct watched *watched;
    bool has_path, has_other;
    char path[PATH_MAX], other[PATH_MAX];
    _Alignas(8) char address[MAX_ADDRESS]; /* read as a sockaddr of its family */
    size_t address_len;
};

static bool same_text(uint32_t at, uint32_t at_len, const char *text, size_t len) {
    return at_len == len && memcmp(texts + at, text, len) == 0;
}

/* Where it is in the list, or the free slot of by_hash that is its own. */
static struct refusal *find(const struct refusal *wanted, const char *text, const char *other, size_t *slot) {
    enum { SLOTS = sizeof by_hash / sizeof *by_hash };
    for (*slot = wanted->hash % SLOTS; by_hash[*slot]; *slot = (*slot + 1) % SLOTS) {
        struct refusal *one = &refusals[by_hash[*slot] - 1];
        if (one->hash == wanted->hash && one->call == wanted->call && one->by == wanted->by &&
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

static bool has_room(enum group group, size_t len) {
    return used[group].count < budgets[group].most && used[group].text + len <= budgets[group].room &&
           refusal_count < MAX_REFUSALS && text_used + len <= sizeof texts;
}

static char callers_home[PATH_MAX];

void refusals_home(const char *home) {
    if (home[0] == '/' && strlen(home) < sizeof callers_home)
        memcpy(callers_home, home, strlen(home) + 1);
}

static const char *below(const char *path, const char *directory) {
    size_t len = strlen(directory);
    bool inside = len > 1 && strlen(path) > len && memcmp(path, directory, len) == 0 && path[len] == '/';
    return inside ? path + len + strspn(path + len, "/") : NULL;
}

/* On the file systems of the host's root, of the caller's home and of where it was called, and on no
 * other: the guest chose the name, and a lookup on a drive that hangs would not come back. */
static int look_on_host(const char *path) {
    const struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_CLOEXEC | O_NOFOLLOW, 0, 0x01 | 0x02 /* RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS */};
    const char *homely = below(path, "/home/user"), *rest = homely ? homely : below(path, callers_home);
    const char *called = below(path, "/work");
    int base = rest && callers_home[0] ? open(callers_home, O_PATH | O_CLOEXEC)
               : called                ? AT_FDCWD
                                       : open("/", O_PATH | O_CLOEXEC);
    if (!rest || !callers_home[0])
        rest = called ? called : path + strspn(path, "/");
    int fd = (int)syscall(SYS_openat2, base, *rest ? rest : ".", &how, sizeof how);
    int error = errno;
    if (base >= 0)
        close(base);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : error;
}

/* Where something that is missing belongs once the room for such is used up; GROUPS: nowhere. */
static enum group second_group(enum hindrance by, const char *text) {
    char place[PATH_MAX];
    size_t len = strlen(text);
    if (len >= sizeof place)
        return UNCERTAIN;
    memcpy(place, text, len + 1);
    char *slash = by == BY_NO_PLACE ? strrchr(place, '/') : NULL; /* the directory must be there */
    if (slash)
        *slash = '\0';
    int error = look_on_host(place);
    return error == 0 ? FOUND : error == ENOENT || error == ENOTDIR ? GROUPS : UNCERTAIN;
}

static void remember(const struct subject *about, enum hindrance by, const char *text, size_t len,
                     const char *other) {
    if (!other)
        other = "";
    struct refusal fresh = {.call = about->call.number, .by = by, .count = 1, .text_len = (uint32_t)len,
                            .other_len = (uint32_t)strlen(other)};
    fresh.hash = hash_bytes(hash_bytes(HASH_START, text, len), other, fresh.other_len);
    fresh.hash = (fresh.hash ^ (uint32_t)fresh.call) * 16777619U ^ (uint32_t)by;
    if (by == BY_FILTER)
        fresh.hash = hash_bytes(fresh.hash, (const char *)about->call.args, sizeof about->call.args[0]);
    size_t slot;
    struct refusal *known = find(&fresh, text, other, &slot);
    if (known) {
        known->count++;
        return;
    }
    enum group group = group_of(by);
    if (group == ABSENT && !has_room(group, len))
        group = second_group(by, text);
    if (group == GROUPS || !has_room(group, len + fresh.other_len)) {
        not_remembered++;
        return;
    }
    used[group].count++;
    used[group].text += len + fresh.other_len;
    fresh.at_us = now_us() - began_us;
    memcpy(fresh.args, about->call.args, sizeof fresh.args);
    fresh.text = keep(text, len);
    fresh.other = keep(other, fresh.other_len);
    fresh.process = process_of(about->call.task);
    refusals[refusal_count++] = fresh;
    by_hash[slot] = (uint16_t)refusal_count;
}

/* Reading what the call points at: before it goes on, for then it may be gone. */

static void read_paths(struct subject *about) {
    const struct watched *w = about->watched;
    const uint64_t *args = about->call.args;
    if (w->path >= 0)
        about->has_path = view_path(about->call.task, w->dir < 0 ? AT_FDCWD : (int)args[w->dir],
                                    args[w->path], about->path);
    if (w->other >= 0)
        about->has_other = view_path(about->call.task,
                                     w->other_dir < 0 ? AT_FDCWD : (int)args[w->other_dir],
                                     args[w->other], about->other);
}

static void read_address(struct subject *about, uint64_t address, uint64_t len) {
    if (!address || len == 0)
        return;
    len = (uint32_t)len; /* as the kernel reads it: the upper half is whatever the guest put there */
    ssize_t n = view_bytes(about->call.task, address, about->address,
                           len < MAX_ADDRESS ? (size_t)len : MAX_ADDRESS);
    about->address_len = n > 0 ? (size_t)n : 0;
}

/* The name that a DNS question asks for; 0 if it is none. RFC 1035, 4.1. */
static size_t question(const unsigned char *packet, size_t size, char *name, size_t room) {
    size_t at = 12, len = 0;
    if (size < at + 5 || (packet[2] & 0x80) || packet[4] != 0 || packet[5] != 1)
        return 0;
    while (at < size && packet[at]) {
        size_t part = packet[at++];
        if (part > 63 || at + part >= size || len + part + 1 >= room)
            return 0;
        if (len)
            name[len++] = '.';
        memcpy(name + len, packet + at, part);
        len += part;
        at += part;
    }
    return at < size ? len : 0;
}

static void read_question(struct subject *about, uint64_t buffer, uint64_t size) {
    unsigned char packet[512];
    ssize_t n = view_bytes(about->call.task, buffer, packet, size < sizeof packet ? (size_t)size : sizeof packet);
    size_t len = n > 0 ? question(packet, (size_t)n, about->other, sizeof about->other - 1) : 0;
    about->other[len] = '\0';
    about->has_other = len > 0;
}

static bool read_message(struct subject *about, uint64_t index) {
    struct mmsghdr one;
    struct iovec part;
    bool many = about->call.number == SYS_sendmmsg;
    size_t size = many ? sizeof one : sizeof one.msg_hdr;
    about->address_len = 0;
    about->has_path = about->has_other = false;
    if (view_bytes(about->call.task, about->call.args[1] + index * size, &one, size) != (ssize_t)size)
        return false;
    const struct msghdr *message = &one.msg_hdr;
    read_address(about, (uint64_t)(uintptr_t)message->msg_name, message->msg_namelen);
    if ((about->address_len || many) && message->msg_iovlen > 0 &&
        view_bytes(about->call.task, (uint64_t)(uintptr_t)message->msg_iov, &part, sizeof part) == sizeof part)
        read_question(about, (uint64_t)(uintptr_t)part.iov_base, part.iov_len);
    return true;
}

static void read_subject(struct subject *about) {
    const uint64_t *args = about->call.args;
    switch (about->watched->kind) {
    case WATCH_ADDRESS:
        read_address(about, args[1], args[2]);
        break;
    case WATCH_SEND:
        read_address(about, args[4], args[5]);
        read_question(about, args[1], args[2]);
        break;
    case WATCH_MESSAGES:
        read_message(about, 0);
        break;
    case WATCH_SIGNAL:
    case WATCH_FORK:
    case WATCH_MAP:
    case WATCH_EXIT:
    case WATCH_OTHER:
        break;
    default:
        read_paths(about);
    }
}

/* What it will run into: looked up before it goes on, for afterwards what it found may be gone, and
 * so may it. */

static enum hindrance reaching(const struct sight *s) {
    if (!s->there)
        return s->ours ? BY_ABSENCE : UNHINDERED;
    return UNHINDERED;
}

static enum hindrance changing(const struct sight *s) {
    return s->there && s->read_only ? BY_READ_ONLY : reaching(s);
}

static enum hindrance making(const struct sight *s) {
    if (s->there)
        return UNHINDERED;
    if (s->parent)
        return s->read_only ? BY_READ_ONLY : UNHINDERED;
    return s->ours ? BY_NO_PLACE : UNHINDERED;
}

enum { UNNAMED = 020000000 }; /* O_TMPFILE without the O_DIRECTORY in it, which differs */

static enum hindrance opening(const struct sight *s, uint64_t flags) {
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
    if (flags & O_PATH)
        return reaching(s);
    if (s->there && s->masked)
        return BY_MASK;
    if (s->there) /* a directory can't be written to, but unnamed files can be made in it */
        return writes && s->read_only && (!s->directory || (flags & UNNAMED)) ? BY_READ_ONLY : UNHINDERED;
    return flags & O_CREAT ? making(s) : reaching(s);
}

static void judge_path(const struct subject *about, bool other, enum watch_kind kind, bool follow) {
    const char *path = other ? about->other : about->path;
    static char told[PATH_MAX];
    struct sight sight;
    if (!(other ? about->has_other : about->has_path) || !view_look(path, follow, &sight, told))
        return;
    enum hindrance by = UNHINDERED;
    switch (kind) {
    case WATCH_OPEN:
        by = opening(&sight, about->watched->flags < 0 ? (uint64_t)(O_CREAT | O_WRONLY | O_TRUNC)
                                                     : about->call.args[about->watched->flags]);
        break;
    case WATCH_CHANGE:
    case WATCH_REMOVE:
        by = changing(&sight);
        break;
    case WATCH_MAKE:
        by = making(&sight);
        break;
    default:
        by = reaching(&sight);
    }
    if (by == BY_ABSENCE || by == BY_NO_PLACE)
        path = told;
    if (by)
        remember(about, by, path, strlen(path), NULL);
}

static bool loops_back(const struct subject *about) {
    const struct sockaddr_in *v4 = (const void *)about->address;
    const struct sockaddr_in6 *v6 = (const void *)about->address;
    if (v4->sin_family == AF_INET && about->address_len >= sizeof *v4) {
        uint32_t host = ntohl(v4->sin_addr.s_addr);
        return host >> 24 == 127 || host == 0;
    }
    static const unsigned char any[16] = {0}, here[16] = {[15] = 1}, mapped[13] = {[10] = 255, 255, 127};
    return v6->sin6_family == AF_INET6 && about->address_len >= sizeof *v6 &&
           (memcmp(&v6->sin6_addr, any, 16) == 0 || memcmp(&v6->sin6_addr, here, 16) == 0 ||
            memcmp(&v6->sin6_addr, mapped, sizeof mapped) == 0);
}

/* The ports of its own loopback that the guest has taken: connecting there meets itself. */
static uint64_t own_ports[65536 / 64];
static bool takes_any; /* some were left to the kernel to choose */

static void take_port(unsigned port) { own_ports[port / 64] |= UINT64_C(1) << (port % 64); }

static bool is_own_port(unsigned port) { return own_ports[port / 64] >> (port % 64) & 1; }

static bool find_port(char *table, unsigned port) {
    /* "  0: 0100007F:1F90 00000000:0000 0A …": what waits is 0A of TCP and 07 of UDP */
    static const char digits[] = "0123456789ABCDEF";
    const char wanted[] = {':', digits[port >> 12], digits[port >> 8 & 15], digits[port >> 4 & 15],
                           digits[port & 15], ' ', '\0'};
    char *line = table;
    while ((line = strchr(line, '\n'))) {
        line++;
        char *local = strstr(line, wanted), *end = strchr(line, '\n');
        char *peer = local ? strchr(local, ' ') : NULL, *state = peer ? strchr(peer + 1, ' ') : NULL;
        if (state && (!end || state < end) && local < peer && local - line < 48 &&
            state[1] == '0' && (state[2] == 'A' || state[2] == '7')) /* the table may end anywhere */
            return true;
    }
    return false;
}

static bool listens_inside(pid_t task, unsigned port) {
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
    static char text[1 << 15];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/net/%s", (int)task, tables[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0, more = 0;
        while (fd >= 0 && (size_t)n < sizeof text - 1 && (more = read(fd, text + n, sizeof text - 1 - (size_t)n)) > 0)
            n += more;
        if (fd >= 0)
            close(fd);
        text[n] = '\0';
        if (find_port(text, port))
            return true;
    }
    return false;
}

/* The kernel walks all of its tables for a look at /proc/net: milliseconds. A server that answers
 * many clients would wait for each, so looking takes a twentieth of the run's time at most; a port
 * that is not looked up counts as its own, for it is on its own loopback, and nothing depends on it. */
enum { LOOK_AT_ONCE_US = 200000, LOOK_SHARE = 20 };

static bool meets_itself(const struct subject *about, unsigned port) {
    static int64_t looked_us;
    if (is_own_port(port) || !takes_any)
        return is_own_port(port);
    int64_t begun = now_us();
    if (looked_us > LOOK_AT_ONCE_US + (begun - began_us) / LOOK_SHARE)
        return true;
    if (listens_inside(about->call.task, port))
        take_port(port);
    looked_us += now_us() - begun;
    return is_own_port(port);
}

static void judge_internet(const struct plan *plan, const struct subject *about) {
    unsigned port = ntohs(((const struct sockaddr_in *)(const void *)about->address)->sin_port);
    bool binds = about->call.number == SYS_bind, low = port > 0 && port < LOW_PORTS;
    const char *where = loops_back(about) ? "loopback" : NULL;
    if (!plan->own_network && !(binds && low))
        return;
    if (binds && where && port)
        take_port(port);
    takes_any = takes_any || (binds && port == 0);
    if (about->has_other && port == 53)
        remember(about, BY_NAME, about->other, strlen(about->other), NULL);
    else if (where && binds ? low : !where || !meets_itself(about, port))
        remember(about, BY_NETWORK, about->address, about->address_len, where);
}

/* A path socket is a file; everything else is the network's. */
static void judge_address(const struct plan *plan, struct subject *about) {
    sa_family_t family;
    if (about->address_len < sizeof family + sizeof(in_port_t))
        return;
    memcpy(&family, about->address, sizeof family);
    if (family == AF_INET || family == AF_INET6) {
        judge_internet(plan, about);
        return;
    }
    const char *name = about->address + sizeof family;
    size_t len = about->address_len - sizeof family;
    if (family != AF_UNIX)
        return;
    if (name[0] == '\0') {
        remember(about, BY_NETWORK, about->address, about->address_len, NULL);
        return;
    }
    about->has_path = view_from(about->call.task, AT_FDCWD, name, strnlen(name, len), about->path);
    judge_path(about, false, about->call.number == SYS_bind ? WATCH_MAKE : WATCH_LOOK, true);
}

/* Without an address only those of sendmmsg, which resolvers use. */
static void judge_message(const struct plan *plan, struct subject *about) {
    if (about->address_len)
        judge_address(plan, about);
    else if (plan->own_network && about->has_other && about->call.number == SYS_sendmmsg)
        remember(about, BY_NAME, about->other, strlen(about->other), NULL);
}

/* Each of them may go elsewhere. The kernel takes 1,024 at most, sendmmsg(2). */
static void judge_messages(const struct plan *plan, struct subject *about) {
    judge_message(plan, about);
    uint64_t count = about->call.number == SYS_sendmmsg ? (uint32_t)about->call.args[2] : 1;
    for (uint64_t i = 1; i < count && i < MAX_MESSAGES && read_message(about, i); i++)
        judge_message(plan, about);
    if (count > 1)
        read_message(about, 0); /* a trace shows the first */
}

static void judge(const struct plan *plan, struct subject *about) {
    const struct watched *w = about->watched;
    switch (about->watched->kind) {
    case WATCH_ADDRESS:
    case WATCH_SEND:
        judge_address(plan, about);
        break;
    case WATCH_MESSAGES:
        judge_messages(plan, about);
        break;
    case WATCH_SIGNAL:
        if ((int)about->call.args[0] > 1 && !watch_had_process((uint32_t)about->call.args[0]))
            remember(about, BY_PID, (const char *)about->call.args, sizeof(int), NULL);
        break;
    case WATCH_FORK:
    case WATCH_MAP:
    case WATCH_EXIT:
    case WATCH_OTHER:
        break;
    case WATCH_MOVE:
        judge_path(about, false, WATCH_REMOVE, false);
        judge_path(about, true, WATCH_MAKE, false);
        break;
    case WATCH_LINK:
        judge_path(about, false, WATCH_LOOK, false);
        judge_path(about, true, WATCH_MAKE, false);
        break;
    default:
        judge_path(about, false, about->watched->kind, foresee_follows(&about->call, w));
    }
}

static void remember_limit(const struct subject *about, const char *name, uint64_t needed) {
    char text[24] = "";
    if (needed)
        snprintf(text, sizeof text, "%llu", (unsigned long long)needed);
    remember(about, BY_LIMIT, name, strlen(name), text);
}

void refusals_limit(const char *name, pid_t inside) {
    struct subject about = {.call = {.task = -inside, .number = -1}};
    for (size_t i = 0; i < refusal_count; i++)
        if (refusals[i].by == BY_LIMIT && same_text(refusals[i].text, refusals[i].text_len, name, strlen(name)))
            return;
    remember_limit(&about, name, 0);
}

/* What the call will meet because there is enough already. */
static void judge_limits(const struct plan *plan, const struct subject *about) {
    const uint64_t *args = about->call.args;
    uint64_t total = 0;
    switch (about->watched->kind) {
    case WATCH_OPEN:
        if (watch_files_full(plan, about->call.task))
            remember_limit(about, "files", 0);
        break;
    case WATCH_REMOVE: /* what did not fit is often taken away at once */
        if (watch_space_full())
            remember_limit(about, "disk", 0);
        break;
    case WATCH_MAP:
        if (about->call.number == SYS_mremap ? args[2] > args[1] : (args[2] & PROT_WRITE) && (args[3] & MAP_PRIVATE))
            total = watch_mapped(about->call.task) + (about->call.number == SYS_mremap ? args[2] - args[1] : args[1]);
        if (watch_maps_too_much(plan, total))
            remember_limit(about, "memory", total);
        break;
    default:
        break;
    }
}

static struct traced_text told_path(int argument, const char *path, const struct sight *s) {
    enum text_kind what = !s->there ? TEXT_ABSENT : s->directory ? TEXT_DIRECTORY : TEXT_PATH;
    return (struct traced_text){argument, what, path, strlen(path)};
}

static void trace(const struct plan *plan, struct subject *about, int error) {
    struct traced_text told[3];
    size_t count = 0;
    struct sight sight = {.there = true}, other;
    const struct watched *w = about->watched;
    bool known = about->has_path || (w->kind == WATCH_EXEC && !trace_has_begun() &&
                                     guest_program(plan, about->call.args[3], about->path));
    if (known) {
        if (!view_look(about->path, foresee_follows(&about->call, w), &sight, NULL))
            sight = (struct sight){.there = true};
        else if (!error)
            error = foresee(&about->call, w, about->path, &sight);
        told[count++] = told_path(w->path < 0 ? 1 : w->path, about->path, &sight);
    }
    if (about->has_other && w->other >= 0) {
        if (!view_look(about->other, false, &other, NULL))
            other = (struct sight){.there = true};
        else if (!error)
            error = foresee_there(&about->call, w, &sight, &other);
        told[count++] = told_path(w->other, about->other, &other);
    } else if (about->has_other) {
        told[count++] = (struct traced_text){1, TEXT_NAME, about->other, strlen(about->other)};
    }
    if (about->address_len)
        told[count++] = (struct traced_text){1, TEXT_ADDRESS, about->address, about->address_len};
    trace_call(&about->call, w, error, told, count, sight.there);
}

/* Going on is safe here, and only here: what was judged is a register, which no other thread can
 * change, and a sum, which only grows. */
static uint64_t spent;

uint64_t refusals_budget_spent(void) { return spent; }

/* Negative, empty, or beyond what a number holds: the kernel refuses it itself, fallocate(2). */
static bool is_no_range(uint64_t offset, uint64_t length) {
    return offset > INT64_MAX || length == 0 || length > INT64_MAX - offset;
}

static bool within_budget(const struct plan *plan, const uint64_t *args) {
    uint64_t amount = args[plan->budget_arg];
    if (!plan->disk_bytes || is_no_range(args[plan->budget_arg - 1], amount))
        return true;
    if (amount > plan->disk_bytes || spent > plan->disk_bytes - amount)
        return false;
    spent += amount;
    return true;
}

/* How much of each quota is taken. As with the budget, a register and a sum that only grows. */
static uint64_t taken[MAX_QUOTAS];

static bool within_quota(const struct plan *plan, int number, const uint64_t *args) {
    for (size_t i = 0; i < plan->quota_count; i++) {
        const struct quota *quota = &plan->quotas[i];
        if (quota->call != number)
            continue;
        uint64_t amount = (uint32_t)args[quota->arg];
        if (quota->uncounted && cgroup_version())
            return true;
        if (amount > quota->most || taken[i] > quota->most - amount)
            return false;
        taken[i] += amount;
        return true;
    }
    return false;
}

void refusals_begin(int listener) {
    began_us = now_us();
    uint64_t stay = 1; /* wakes the other side on this processor: half the cost; Linux 6.6 */
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, stay);
}

/* The launcher's memory is closed to us until the guest has become its program; that hides nothing. */
static uint64_t missed_of_launcher(const struct call *call, uint64_t missed_before) {
    static bool begun;
    begun = begun || call->number != SYS_execve || (call->args[3] & ~0xffffffffULL) != TRIED;
    return begun ? 0 : view_missed() - missed_before;
}

static uint64_t own_missed;

static bool alters(const struct subject *about) {
    const struct watched *w = about->watched;
    switch (w->kind) {
    case WATCH_OPEN:
        return w->flags < 0 || (about->call.args[w->flags] & O_CREAT);
    case WATCH_MAKE:
    case WATCH_REMOVE:
    case WATCH_MOVE:
    case WATCH_LINK:
    case WATCH_CHANGE:
    case WATCH_ADDRESS: /* a socket may get a name */
        return true;
    case WATCH_OTHER:
        return about->call.number == SYS_fchmod;
    default:
        return false;
    }
}

void refusals_answer(const struct plan *plan, int listener) {
    static struct subject about;
    union {
        struct seccomp_notif request;
        char room[512]; /* a later kernel may know a larger structure */
    } in;
    union {
        struct seccomp_notif_resp answer;
        char room[512];
    } out;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
        return;
    const struct seccomp_data *data = &in.request.data;
    about.call.task = (pid_t)in.request.pid;
    about.call.number = data->nr;
    memcpy(about.call.args, data->args, sizeof about.call.args);
    about.watched = data->nr >= 0 && data->nr < MAX_SYSCALL ? &plan->watched_calls[data->nr] : NULL;
    about.has_path = about.has_other = false;
    about.address_len = 0;
    out.answer.id = in.request.id;
    view_asker(about.call.task);
    uint64_t missed_before = view_missed();
    int error = verdict_of(data);
    bool watched = about.watched && about.watched->kind && error == 0;
    if (watched) {
        read_subject(&about);
        judge_limits(plan, &about);
        judge(plan, &about);
        out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else if (data->nr == plan->budget_call ? within_budget(plan, about.call.args)
                                             : within_quota(plan, data->nr, about.call.args)) {
        out.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else {
        if (about.watched && plan->refusal_errno[data->nr])
            error = plan->refusal_errno[data->nr];
        out.answer.error = -(error ? error : EPERM);
        if (about.watched && about.watched->kind)
            read_subject(&about);
        if (error != ENOSYS) /* a call that this kernel might not have either */
            remember(&about, BY_FILTER, about.path, about.has_path ? strlen(about.path) : 0, NULL);
    }
    own_missed += missed_of_launcher(&about.call, missed_before);
    if (trace_on() && about.watched && about.watched->kind) {
        trace(plan, &about, -out.answer.error);
        trace_goes_on(about.call.task);
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out); /* fails if the task died meanwhile */
    if (watched && alters(&about))
        view_changed();
}

/* It was not there yet when it was first asked for. */
static bool became_own(const struct refusal *r) {
    struct sockaddr_in address;
    if (r->by != BY_NETWORK || !r->other_len || r->call == SYS_bind || r->text_len < sizeof address)
        return false;
    memcpy(&address, texts + r->text, sizeof address);
    return is_own_port(ntohs(address.sin_port));
}

/* /proc/PID/syscall says "running" of a task that has asked, and is only on its way to sleep; on a
 * busy machine that takes a while. It can't go on before it is answered. */
static bool read_when_asleep(pid_t task, char *text, size_t size) {
    for (int tries = 0; tries < ASLEEP_TRIES; tries++) {
        if (tries > 0)
            poll(NULL, 0, tries < ASLEEP_TRIES / 2 ? 0 : 1);
        if (view_read(task, "syscall", text, size) <= 0)
            return false;
        if (*text != 'r') /* running */
            return true;
    }
    return false;
}

/* "NUMBER 0xARG … 0xSP 0xPC", as /proc/PID/syscall has it of a task that waits in a call. */
static bool read_call(struct call *call) {
    char text[256];
    if (!read_when_asleep(call->task, text, sizeof text))
        return false;
    uint64_t number;
    const char *at = next_number(text, &number);
    for (int i = 0; at && i < 6; i++) {
        at = strstr(at, "0x");
        uint64_t value = 0;
        for (at = at ? at + 2 : at; at && *at; at++) {
            unsigned digit = *at >= 'a' ? (unsigned)(*at - 'a' + 10) : (unsigned)(*at - '0');
            if (digit > 15)
                break;
            value = value << 4 | digit;
        }
        call->args[i] = value;
    }
    call->number = (int)number;
    return at && number < MAX_SYSCALL;
}

/* These reach the supervisor by themselves, as notifications. */
static bool notified(const struct plan *plan, const struct subject *about) {
    const struct watched *w = about->watched;
    enum { CHANGES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
    switch (w->kind) {
    case WATCH_LOOK:
        return false;
    case WATCH_MESSAGES:
        return about->call.number != SYS_sendmsg || every_call_is_watched(plan);
    case WATCH_OPEN:
        return w->flags < 0 || (about->call.args[w->flags] & CHANGES) ||
               (plan->opens && !(about->call.args[w->flags] & O_PATH));
    default:
        return true;
    }
}

void refusals_lookup(const struct plan *plan, pid_t inside) {
    static struct subject about;
    if (inside <= 1)
        return;
    about = (struct subject){.call.task = -inside};
    view_asker(-inside);
    if (!read_call(&about.call))
        return;
    /* Not among the watched calls, for the listener itself is handed over by it. */
    static const struct watched message = {.kind = WATCH_MESSAGES, .dir = -1, .path = -1, .other_dir = -1, .other = -1, .flags = -1};
    about.watched = about.call.number == SYS_sendmsg ? &message : &plan->watched_calls[about.call.number];
    if (!about.watched->kind || notified(plan, &about))
        return;
    read_subject(&about);
    judge(plan, &about);
}

void refusals_report(void) {
    static char text[6 * PATH_MAX + 8], other[6 * PATH_MAX + 8];
    if (watch_space_full())
        refusals_limit("disk", 0);
    processes_report();
    for (size_t i = 0; i < refusal_count; i++) {
        const struct refusal *r = &refusals[i];
        if (became_own(r))
            continue;
        json_escape(text, sizeof text, texts + r->text, r->text_len);
        json_escape(other, sizeof other, texts + r->other, r->other_len);
        emit("{\"event\":\"refused\",\"call\":%d,\"by\":\"%s\",\"process\":%d,\"count\":%llu,\"at_us\":%lld,"
             "\"args\":\"%llu %llu %llu %llu %llu %llu\",\"text\":\"%s\",\"other\":\"%s\"}",
             r->call, (const char[]){(char)r->by, 0}, r->process, (unsigned long long)r->count, (long long)r->at_us,
             (unsigned long long)r->args[0], (unsigned long long)r->args[1],
             (unsigned long long)r->args[2], (unsigned long long)r->args[3],
             (unsigned long long)r->args[4], (unsigned long long)r->args[5], text, other);
    }
    uint64_t more = not_remembered + view_missed() - own_missed;
    if (more)
        emit("{\"event\":\"refused-more\",\"count\":%llu}", (unsigned long long)more);
}
