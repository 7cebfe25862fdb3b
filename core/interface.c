/* A network interface besides lo in the guest's own network, for programs that look for one (MPI, gloo, Ray,
 * mDNS). The kernel drops what is sent through it.
 *
 * Its address stands alone (/32), so that every other one is unreachable at once; only multicast is routed to
 * it, for programs that join a group without naming an interface. */
#define _GNU_SOURCE
#include "fortify.h"
#include "interface.h"
#include "fail.h"
#include "netlink.h"
#include "plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INDEX = 2 }; /* lo is every namespace's first */

static int make_link(int fd, const char *name, const char *kind) {
    struct netlink_request request;
    const uint32_t one = 1;
    struct ifinfomsg *link = netlink_begin(&request, RTM_NEWLINK, sizeof *link);
    link->ifi_index = INDEX;
    link->ifi_flags = link->ifi_change = IFF_UP | IFF_NOARP | IFF_MULTICAST;
    netlink_put(&request, IFLA_IFNAME, name, strlen(name) + 1);
    netlink_put(&request, IFLA_NUM_TX_QUEUES, &one, sizeof one);
    netlink_put(&request, IFLA_NUM_RX_QUEUES, &one, sizeof one);
    struct rtattr *info = netlink_put(&request, IFLA_LINKINFO, "", 0);
    netlink_put(&request, IFLA_INFO_KIND, kind, strlen(kind));
    info->rta_len = (uint16_t)(request.room + request.head.nlmsg_len - (char *)info);
    return netlink_ask(fd, &request);
}

static void add_address(int fd, uint32_t address) {
    struct netlink_request request;
    address = htonl(address);
    struct ifaddrmsg *about = netlink_begin(&request, RTM_NEWADDR, sizeof *about);
    *about = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = INDEX};
    netlink_put(&request, IFA_LOCAL, &address, sizeof address);
    int error = netlink_ask(fd, &request);
    if (error)
        die(error, "interface", "giving the interface an address");
}

static void add_multicast(int fd) {
    static const uint8_t groups[4] = {224};
    const uint32_t through = INDEX;
    struct netlink_request request;
    struct rtmsg *route = netlink_begin(&request, RTM_NEWROUTE, sizeof *route);
    *route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 4, .rtm_table = RT_TABLE_MAIN,
                            .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
    netlink_put(&request, RTA_DST, groups, sizeof groups);
    netlink_put(&request, RTA_OIF, &through, sizeof through);
    int error = netlink_ask(fd, &request);
    if (error)
        die(error, "interface", "routing multicast to the interface");
}

void make_interface(const struct plan *plan) {
    /* Each of these drops what is sent; the first that this kernel supports is used. A bridge without ports
     * has no carrier. */
    static const char *const kinds[] = {"dummy", "ifb", "bridge"};
    if (!plan->interface)
        return;
    int fd = netlink_open(), error = EOPNOTSUPP;
    if (fd < 0)
        die(errno, "interface", "opening a socket to make an interface");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && error == EOPNOTSUPP; i++)
        error = make_link(fd, plan->interface, kinds[i]);
    if (error)
        die(error, "interface", "making a network interface");
    add_address(fd, plan->interface_address);
    add_multicast(fd);
    close(fd);
}
