/* The arguments of a guest's call: paths, names and addresses. */
#ifndef WARDIAN_SUBJECT_H
#define WARDIAN_SUBJECT_H

#include "call.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_ADDRESS = 128, MAX_MESSAGES = 1024 }; /* of sendmmsg(2) */

struct subject {
    struct call call;
    const struct watched *watched;
    bool has_path, has_other;
    char path[PATH_MAX], other[PATH_MAX]; /* the other: a second path, or the name that is asked for */
    _Alignas(8) char address[MAX_ADDRESS]; /* read as a sockaddr of its family */
    size_t address_len;
};

void read_subject(struct subject *about);
bool read_message(struct subject *about, uint64_t index); /* one of those that it sends */

#endif
