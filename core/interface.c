/* A network interface besides lo in the guest's own network, for programs that look for one (MPI, gloo,
 * Ray, mDNS). It leads nowhere: what is sent through it is dropped by the kernel.
 *
 * Its address stands alone (/32), so that every other one stays unreachable at once; only multicast is
 * routed to it, for those who join a group without naming an interface. */
#define _GNU_SOURCE
#include "fortify.h"
#include "interface.h"
#include "fail.h"
#include "plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 256, INDEX = 2 }; /* lo is every namespace's first */

struct request {
    union {
        struct nlmsghdr head;
        char room[ROOM];
    };
};

static void *begin(struct request *request, uint16_t type, size_t size) {
    memset(request, 0, sizeof *request);
    request->head = (struct nlmsghdr){.nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type,
                                      .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
    return request->room + NLMSG_HDRLEN;
}

static struct rtattr *put(struct request *request, uint16_t type, const void *value, size_t size) {
    size_t at = NLMSG_ALIGN(request->head.nlmsg_len);
    struct rtattr *attribute = (void *)(request->room + at);
    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(size);
    memcpy(request->room + at + RTA_LENGTH(0), value, size);
    request->head.nlmsg_len = (uint32_t)(at + RTA_ALIGN(RTA_LENGTH(size)));
    return attribute;
}

/* Zero, or the errno with which the kernel refuses it. */
static int ask(int fd, const struct request *request) {
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char request[ROOM + 64];
    } reply;
    if (write(fd, request, request->head.nlmsg_len) < 0)
        return errno;
    ssize_t got = read(fd, &reply, sizeof reply);
    if (got < (ssize_t)(sizeof reply.head + sizeof reply.error) || reply.head.nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    return -reply.error.error;
}

static int make_link(int fd, const char *name, const char *kind) {
    struct request request;
    const uint32_t one = 1;
    struct ifinfomsg *link = begin(&request, RTM_NEWLINK, sizeof *link);
    link->ifi_index = INDEX;
    link->ifi_flags = link->ifi_change = IFF_UP | IFF_NOARP | IFF_MULTICAST;
    put(&request, IFLA_IFNAME, name, strlen(name) + 1);
    put(&request, IFLA_NUM_TX_QUEUES, &one, sizeof one);
    put(&request, IFLA_NUM_RX_QUEUES, &one, sizeof one);
    struct rtattr *info = put(&request, IFLA_LINKINFO, "", 0);
    put(&request, IFLA_INFO_KIND, kind, strlen(kind));
    info->rta_len = (uint16_t)(request.room + request.head.nlmsg_len - (char *)info);
    return ask(fd, &request);
}

static void add_address(int fd, uint32_t address) {
    struct request request;
    address = htonl(address);
    struct ifaddrmsg *about = begin(&request, RTM_NEWADDR, sizeof *about);
    *about = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = INDEX};
    put(&request, IFA_LOCAL, &address, sizeof address);
    int error = ask(fd, &request);
    if (error)
        die(error, "interface", "giving the interface an address");
}

static void add_multicast(int fd) {
    static const uint8_t groups[4] = {224};
    const uint32_t through = INDEX;
    struct request request;
    struct rtmsg *route = begin(&request, RTM_NEWROUTE, sizeof *route);
    *route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 4, .rtm_table = RT_TABLE_MAIN,
                            .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
    put(&request, RTA_DST, groups, sizeof groups);
    put(&request, RTA_OIF, &through, sizeof through);
    int error = ask(fd, &request);
    if (error)
        die(error, "interface", "routing multicast to the interface");
}

void make_interface(const struct plan *plan) {
    /* All of them drop what is sent; the first that this kernel knows. A bridge without ports has no carrier. */
    static const char *const kinds[] = {"dummy", "ifb", "bridge"};
    if (!plan->interface)
        return;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), error = EOPNOTSUPP;
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
