/* The name that a DNS question asks for. The packet is the guest's. */
#define _GNU_SOURCE
#include "fortify.h"
#include "dns.h"

#include <string.h>

/* RFC 1035, 4.1. */
size_t dns_question(const unsigned char *packet, size_t size, char *name, size_t room) {
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
