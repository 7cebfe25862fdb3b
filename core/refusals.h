/* Refusals, recorded until the end of the run. */
#ifndef WARDIAN_REFUSALS_H
#define WARDIAN_REFUSALS_H

#include "call.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The reason of a refusal, as sandbox/refusals/reading.py reads it. */
enum hindrance {
    UNHINDERED = 0,
    BY_FILTER = 'f',
    BY_ABSENCE = 'm',   /* not in the guest's root, and not in a share either */
    BY_NO_PLACE = 'c',  /* the same of the directory in which it would be created */
    BY_READ_ONLY = 'r',
    BY_MASK = 'k',
    BY_NETWORK = 'n',
    BY_NAME = 'd',      /* a name that was looked up, without a resolver */
    BY_PID = 'p',
    BY_LIMIT = 'l',
};

#define TO_LOOPBACK "loopback" /* details of an address of the guest's own */

void refusals_begin(void);
/* `other`: more about it, or NULL. */
void remember(const struct call *call, enum hindrance by, const char *text, size_t len, const char *other);
void remember_limit(const struct call *call, const char *name, uint64_t needed); /* 0: not known */
void refusals_limit(const char *name, pid_t inside); /* one that was seen to be met; once */
void refusals_report(uint64_t command);   /* of a living sandbox, then forgotten; 0: all */
void refusals_forget(uint64_t command);

#endif
