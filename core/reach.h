/* Which places a confined guest may use: what the plan's Landlock rules say, asked by path. */
#ifndef WARDIAN_REACH_H
#define WARDIAN_REACH_H

#include "call.h"
#include "plan.h"
#include "refusals.h"

#include <stdbool.h>
#include <stdint.h>
#include <linux/limits.h>

void reach_remember(const struct plan *plan); /* before the plan is forgotten */
bool reach_known(void);                       /* false where the guest has a root of its own */
bool reach_may_change(int fd);                /* what is open there lies in a place that the guest may write to */
bool reach_may_read(int fd);
bool reach_name(int fd, char path[PATH_MAX]); /* where what is open there lies */
bool reach_is_named(int fd); /* it may be changed, or is itself what a rule names */
/* What the rules will say to a call on this path: for people, as in predict.h. */
enum hindrance reach_hindrance(const struct call *call, const struct watched *w, enum watch_kind kind, const char *path, bool follow);

#endif
