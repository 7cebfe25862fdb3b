/* What will come of a call on a path, as far as looking at the path beforehand tells. */
#ifndef WARDIAN_PREDICT_H
#define WARDIAN_PREDICT_H

#include "call.h"
#include "refusals.h"
#include "sight.h"

#include <stdbool.h>

bool predict_follows(const struct call *call, const struct watched *watched);

/* The errno that it will meet; 0: none. */
int predict(const struct call *call, const struct watched *watched, const char *path,
            const struct sight *sight);
int predict_other(const struct call *call, const struct watched *watched, const struct sight *from,
                  const struct sight *to); /* for the place that a link or a renamed file gets */

/* The wall that it will run into, where it does `kind` to a path that looks like this. */
enum hindrance predict_hindrance(const struct call *call, const struct watched *watched, enum watch_kind kind,
                                 const struct sight *sight);

bool predict_writes(const struct call *call, const struct watched *watched); /* an open */
bool predict_makes(const struct call *call, const struct watched *watched);

/* Will what lies anywhere in the guest's root be another afterwards? */
bool predict_alters(const struct call *call, const struct watched *watched);
/* Of those: only what is no directory comes or goes. */
bool predict_alters_files(const struct call *call, const struct watched *watched);

#endif
