/* Records which wall a call will run into, before the call goes on: afterwards the path, and the process, may
 * be gone. Mounts, namespaces and Landlock decide; nothing here does. */
#define _GNU_SOURCE
#include "fortify.h"
#include "judge.h"
#include "call.h"
#include "limits.h"
#include "paths.h"
#include "plan.h"
#include "ports.h"
#include "process_tree.h"
#include "predict.h"
#include "reach.h"
#include "refusals.h"
#include "sight.h"
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOW_PORTS = 1024 };

static void judge_path(const struct subject *about, bool other, enum watch_kind kind, bool follow) {
    const char *path = other ? about->other : about->path;
    static char resolved[PATH_MAX];
    struct sight sight;
    if (reach_known() && (other ? about->has_other : about->has_path)) {
        enum hindrance wall = reach_hindrance(&about->call, about->watched, kind, path, follow);
        if (wall)
            remember(&about->call, wall, path, strlen(path), NULL);
        return;
    }
    if (!(other ? about->has_other : about->has_path) || !sight_look(path, follow, &sight, resolved))
        return;
    enum hindrance by = predict_hindrance(&about->call, about->watched, kind, &sight);
    if (by == BY_ABSENCE || by == BY_NO_PLACE)
        path = resolved;
    if (by)
        remember(&about->call, by, path, strlen(path), NULL);
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

/* A stream connection, which a network by name can carry; it can't carry datagrams. */
static bool is_stream(const struct subject *about) {
    char path[64], protocol[32] = "";
    if (about->watched->kind != WATCH_CONNECT || about->call.task < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)about->call.task, (int)about->call.args[0]);
    long n = syscall(SYS_getxattr, path, "system.sockprotoname", protocol, sizeof protocol - 1);
    return n > 0 && strstr(protocol, "TCP"); /* TCP, TCPv6, MPTCP */
}

/* With an interface its own address, multicast and link-local ones are usable, and nobody else is there. */
static bool is_on_link(const struct plan *plan, const struct subject *about) {
    const struct sockaddr_in *v4 = (const void *)about->address;
    const struct sockaddr_in6 *v6 = (const void *)about->address;
    if (!plan->interface)
        return false;
    if (v4->sin_family == AF_INET && about->address_len >= sizeof *v4) {
        uint32_t host = ntohl(v4->sin_addr.s_addr);
        return host == plan->interface_address || IN_MULTICAST(host);
    }
    return v6->sin6_family == AF_INET6 && about->address_len >= sizeof *v6 &&
           (IN6_IS_ADDR_MULTICAST(&v6->sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr));
}

static void judge_internet(const struct plan *plan, const struct subject *about) {
    unsigned port = ntohs(((const struct sockaddr_in *)(const void *)about->address)->sin_port);
    bool binds = about->watched->kind == WATCH_BIND, low = port > 0 && port < LOW_PORTS, loops = loops_back(about);
    bool own = loops || is_on_link(plan, about);
    if (!plan->own_network && !(binds && low))
        return;
    if (binds && (loops || port == 0))
        take_port(port);
    if (about->has_other && port == 53)
        remember(&about->call, BY_NAME, about->other, strlen(about->other), NULL);
    else if (binds ? low || !own : loops ? !meets_itself(about->call.task, port) : !own)
        remember(&about->call, BY_NETWORK, about->address, about->address_len,
                 loops ? TO_LOOPBACK : is_stream(about) ? "stream" : NULL);
}

/* A unix socket with a path is a file; every other address belongs to the network. */
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
    if (name[0] == '\0' && reach_known())
        return; /* its own until the kernel says otherwise */
    if (name[0] == '\0') {
        remember(&about->call, BY_NETWORK, about->address, about->address_len, NULL);
        return;
    }
    about->has_path = path_from(about->call.task, AT_FDCWD, name, strnlen(name, len), about->path);
    judge_path(about, false, about->watched->kind == WATCH_BIND ? WATCH_MAKE : WATCH_LOOK, true);
}

/* Messages without an address matter only for sendmmsg, which resolvers use. */
static void judge_message(const struct plan *plan, struct subject *about) {
    if (about->address_len)
        judge_address(plan, about);
    else if (plan->own_network && about->has_other && about->call.number == SYS_sendmmsg)
        remember(&about->call, BY_NAME, about->other, strlen(about->other), NULL);
}

/* Each message may have another address. The kernel takes 1,024 at most, sendmmsg(2). */
static void judge_messages(const struct plan *plan, struct subject *about) {
    judge_message(plan, about);
    uint64_t count = about->call.number == SYS_sendmmsg ? (uint32_t)about->call.args[2] : 1;
    for (uint64_t i = 1; i < count && i < MAX_MESSAGES && read_message(about, i); i++)
        judge_message(plan, about);
    if (count > 1)
        read_message(about, 0); /* a trace shows the first */
}

void judge(const struct plan *plan, struct subject *about) {
    const struct watched *w = about->watched;
    switch (about->watched->kind) {
    case WATCH_CONNECT:
        if (!reach_known()) /* else connecting.c does */
            judge_address(plan, about);
        break;
    case WATCH_BIND:
    case WATCH_SEND:
        judge_address(plan, about);
        break;
    case WATCH_MESSAGES:
        judge_messages(plan, about);
        break;
    case WATCH_SIGNAL:
        if (reach_known() ? (int)about->call.args[0] > 1 && !tree_has((pid_t)about->call.args[0])
                          : (int)about->call.args[0] > 1 && !limits_had_process((uint32_t)about->call.args[0]))
            remember(&about->call, BY_PID, (const char *)about->call.args, sizeof(int), NULL);
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
        judge_path(about, false, about->watched->kind, predict_follows(&about->call, w));
    }
}

/* Limits that the call will meet because the guest has used them up already. */
void judge_limits(const struct plan *plan, const struct subject *about) {
    const uint64_t *args = about->call.args;
    uint64_t total = 0;
    switch (about->watched->kind) {
    case WATCH_OPEN:
        if (limits_files_full(plan, about->call.task))
            remember_limit(&about->call, "files", 0);
        break;
    case WATCH_REMOVE: /* a program often removes at once what did not fit */
        if (limits_space_full())
            remember_limit(&about->call, "disk", 0);
        break;
    case WATCH_MAP:
        if (about->call.number == SYS_mremap ? args[2] > args[1] : (args[2] & PROT_WRITE) && (args[3] & MAP_PRIVATE))
            total = limits_mapped(about->call.task) + (about->call.number == SYS_mremap ? args[2] - args[1] : args[1]);
        if (limits_maps_too_much(plan, total))
            remember_limit(&about->call, "memory", total);
        break;
    default:
        break;
    }
}
