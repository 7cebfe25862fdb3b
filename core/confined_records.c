/* The records that only a plan for a confined guest has. */
#define _GNU_SOURCE
#include "fortify.h"
#include "confined_records.h"
#include "call.h"

bool set_acted(struct plan *plan, const struct record *r) {
    const struct field *calls = &r->fields[1];
    for (size_t i = 0; i + 2 <= calls->len; i += 2) {
        const uint8_t *p = (const uint8_t *)calls->at + i;
        unsigned call = (unsigned)p[0] | (unsigned)p[1] << 8;
        if (call >= MAX_SYSCALL)
            return false;
        plan->acted[call] = true;
    }
    return calls->len % 2 == 0 && plan->bare.confined;
}

bool set_shm(struct plan *plan, const struct record *r) {
    plan->bare.shm = r->fields[1].at;
    return plan->bare.confined && r->fields[1].at[0] == '/';
}
