/* Predicts a call on a path from a look at the path beforehand. */
#ifndef WARDIAN_PREDICT_H
#define WARDIAN_PREDICT_H

#include "call.h"
#include "refusals.h"
#include "sight.h"

#include <stdbool.h>

bool predict_follows(const struct call *call, const struct watched *watched);

/* The errno that it will get; 0: none. */
int predict(const struct call *call, const struct watched *watched, const char *path,
            const struct sight *sight);
int predict_other(const struct call *call, const struct watched *watched, const struct sight *from,
                  const struct sight *to); /* for the place that a link or a renamed file gets */

/* The wall that it will run into, if it does `kind` to a path in this state. */
enum hindrance predict_hindrance(const struct call *call, const struct watched *watched, enum watch_kind kind,
                                 const struct sight *sight);

bool predict_writes(const struct call *call, const struct watched *watched); /* an open */
bool predict_makes(const struct call *call, const struct watched *watched);

/* Will the call change what a path in the guest's root leads to? */
bool predict_alters(const struct call *call, const struct watched *watched);
/* Of those calls: only files come or go, no directories. */
bool predict_alters_files(const struct call *call, const struct watched *watched);

#endif
