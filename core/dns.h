/* DNS questions. */
#ifndef WARDIAN_DNS_H
#define WARDIAN_DNS_H

#include <stddef.h>

/* The length of the name that one asks for; 0 if it is none. */
size_t dns_question(const unsigned char *packet, size_t size, char *name, size_t room);

#endif
