/* A confined guest's /dev/shm: a directory of the run's own. */
#ifndef WARDIAN_OWN_SHM_H
#define WARDIAN_OWN_SHM_H

#include "plan.h"
#include "subject.h"

#include <linux/seccomp.h>
#include <stdbool.h>

void own_shm_attach(const struct plan *plan);
/* Was it about /dev/shm, and is done? Then `error` is the answer; or, if `given`, a descriptor was it already. */
bool own_shm_answers(const struct plan *plan, int listener, const struct seccomp_notif *request, const struct subject *about, int *error, bool *given);

#endif
