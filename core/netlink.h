/* Requests to the kernel about links, addresses and routes of a network namespace, one at a time. */
#ifndef WARDIAN_NETLINK_H
#define WARDIAN_NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

enum { NETLINK_ROOM = 256 };

struct netlink_request {
    union {
        struct nlmsghdr head;
        char room[NETLINK_ROOM];
    };
};

int netlink_open(void); /* or -1 */
/* To make something new: returns where the message of `type` goes, `size` bytes of zeros. */
void *netlink_begin(struct netlink_request *request, uint16_t type, size_t size);
struct rtattr *netlink_put(struct netlink_request *request, uint16_t type, const void *value, size_t size);
/* Zero, or the errno with which the kernel refuses it. */
int netlink_ask(int fd, const struct netlink_request *request);

#endif
