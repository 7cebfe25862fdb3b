/* A network by name. Every address that a rule may lead to is made local in the guest's own network
 * namespace, and the gateway, a part of the caller outside, listens there: a socket belongs to the namespace
 * in which it was made, whoever has it. So the launcher only adds routes and makes sockets; the gateway
 * decides what may be reached, and dials it (sandbox/network/). */
#define _GNU_SOURCE
#include "fortify.h"
#include "names.h"
#include "channel.h"
#include "descriptors.h"
#include "fail.h"
#include "netlink.h"
#include "plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOPBACK = 1, DNS = 53, BACKLOG = 64, MOST_HANDED = 2 }; /* lo is every namespace's first */

static void add_route(int fd, const struct route *wanted) {
    const uint32_t through = LOOPBACK;
    struct netlink_request request;
    struct rtmsg *route = netlink_begin(&request, RTM_NEWROUTE, sizeof *route);
    *route = (struct rtmsg){.rtm_family = wanted->family, .rtm_dst_len = wanted->bits, .rtm_table = RT_TABLE_LOCAL,
                            .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_HOST, .rtm_type = RTN_LOCAL};
    netlink_put(&request, RTA_DST, wanted->address, wanted->family == AF_INET ? 4 : 16);
    netlink_put(&request, RTA_OIF, &through, sizeof through);
    int error = netlink_ask(fd, &request);
    if (error && error != EEXIST)
        die(error, "network", "adding a route for a network by name");
}

/* False: the gateway is gone. */
static bool hand_over(int gateway, const int *fds, size_t count) {
    return channel_pass(gateway, count ? 's' : 'n', fds, count);
}

static int resolver_socket(int type) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(DNS), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || syscall(SYS_bind, fd, &here, sizeof here) < 0 ||
        (type == SOCK_STREAM && syscall(SYS_listen, fd, BACKLOG) < 0))
        die(errno, "network", "opening the resolver's port in the guest");
    return fd;
}

/* The gateway's next request, one byte: '4' or '6' for a socket, 'r' when it listens. */
static long next_request(int gateway, char *request, int flags) {
    long got;
    while ((got = syscall(SYS_recvfrom, gateway, request, 1, flags, NULL, NULL)) < 0 && errno == EINTR)
        ;
    return got;
}

static bool hand_socket(int gateway, char family) {
    int fd = socket(family == '6' ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool taken = hand_over(gateway, &fd, fd >= 0);
    if (fd >= 0)
        close(fd);
    return taken;
}

void names_begin(const struct plan *plan) {
    if (!plan->route_count)
        return;
    int fd = netlink_open();
    if (fd < 0)
        die(errno, "network", "opening a socket to add routes");
    for (size_t i = 0; i < plan->route_count; i++)
        add_route(fd, &plan->routes[i]);
    close(fd);
    int ports[MOST_HANDED] = {resolver_socket(SOCK_DGRAM), resolver_socket(SOCK_STREAM)};
    if (!hand_over(FD_GATEWAY, ports, MOST_HANDED))
        die(errno, "network", "handing the resolver's port to the gateway");
    close(ports[0]);
    close(ports[1]);
    char request = 0; /* a guest that connects at once finds every address that rules name by number */
    while (next_request(FD_GATEWAY, &request, 0) == 1 && request != 'r' && hand_socket(FD_GATEWAY, request))
        ;
}

bool names_serve(int gateway) {
    char request;
    long got = next_request(gateway, &request, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return true;
    return got == 1 && hand_socket(gateway, request);
}
