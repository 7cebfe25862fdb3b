/* Requests to the kernel about links, addresses and routes of a network namespace, one at a time. */
#define _GNU_SOURCE
#include "fortify.h"
#include "netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int netlink_open(void) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }

void *netlink_begin(struct netlink_request *request, uint16_t type, size_t size) {
    memset(request, 0, sizeof *request);
    request->head = (struct nlmsghdr){.nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type,
                                      .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
    return request->room + NLMSG_HDRLEN;
}

struct rtattr *netlink_put(struct netlink_request *request, uint16_t type, const void *value, size_t size) {
    size_t at = NLMSG_ALIGN(request->head.nlmsg_len);
    struct rtattr *attribute = (void *)(request->room + at);
    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(size);
    memcpy(request->room + at + RTA_LENGTH(0), value, size);
    request->head.nlmsg_len = (uint32_t)(at + RTA_ALIGN(RTA_LENGTH(size)));
    return attribute;
}

int netlink_ask(int fd, const struct netlink_request *request) {
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char request[NETLINK_ROOM + 64];
    } reply;
    if (write(fd, request, request->head.nlmsg_len) < 0)
        return errno;
    ssize_t got = read(fd, &reply, sizeof reply);
    if (got < (ssize_t)(sizeof reply.head + sizeof reply.error) || reply.head.nlmsg_type != NLMSG_ERROR)
        return EPROTO;
    return -reply.error.error;
}
