/* Calls of a confined guest that the supervisor carries out itself, because no wall of the kernel's judges
 * what they do. */
#ifndef WARDIAN_DEPUTY_H
#define WARDIAN_DEPUTY_H

#include "call.h"
#include "plan.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum deed {
    DEED_DONE,    /* or refused: `error` and `value` are the answer */
    DEED_GOES_ON, /* the kernel may carry it out: registers alone say what it does */
    DEED_PENDING, /* answered later */
};
struct deputy_answer {
    enum deed deed;
    int error; /* 0: it returns the value */
    int64_t value;
};

bool deputy_takes(const struct plan *plan, int number); /* such a call is never left to the kernel by its memory */
struct deputy_answer deputy_act(const struct plan *plan, int listener, const struct seccomp_notif *request);

/* Shared with the other acts (connecting.c, sent_signals.c). */
bool deputy_still_waits(int listener, uint64_t id); /* else the task may be another one by now */
int deputy_open(pid_t task, int dir, const char *name, bool follow); /* what the guest means, or -1 with errno */
int deputy_descriptor(pid_t task, int fd); /* the guest's own, the same open file; or -1 with errno */
void deputy_as_guest(const struct plan *plan, bool on); /* root's supervisor, with the guest's rights over files */

#endif
