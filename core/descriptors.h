/* The descriptors that the caller passes; every other one is closed. */
#ifndef WARDIAN_DESCRIPTORS_H
#define WARDIAN_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    FD_PLAN = 3,
    FD_STATUS,
    FD_CONTROL,
    FD_FIRST_STREAM,
    FD_LAST_STREAM = FD_FIRST_STREAM + 2,
    FD_TRACE, /* only with a plan that asks for it */
    FD_FIRST_COPY, /* of output and error; the same */
    FD_LAST_COPY = FD_FIRST_COPY + 1,
    FD_GATEWAY, /* only with a network by name: names.h */
    FD_LAST = FD_GATEWAY,
    FD_JSON_STATUS, /* in a program that walls the guest in itself: inner_sandbox.c */
    FD_BLOCK
};

bool control_is_closed(void); /* by the caller */
void close_all_but(int last_kept);
void close_others(int last_kept, const int *kept, size_t count); /* above the one, but for these */

#endif
