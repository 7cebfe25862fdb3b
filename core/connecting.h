/* connect(2) for a confined guest: judged by the supervisor, done by a child of the reaper's. */
#ifndef WARDIAN_CONNECTING_H
#define WARDIAN_CONNECTING_H

#include "channel.h"
#include "deputy.h"

void connecting_prepare(void);  /* before the reaper is born */
int connecting_reapers_end(void); /* in the reaper; or -1 */
int connecting_fd(void);        /* in the supervisor: to be polled, or -1 */
struct deputy_answer connecting_begin(const struct plan *plan, int listener, const struct seccomp_notif *request, const struct call *call);
void connecting_done(int listener);              /* the reaper's child says what came of it */
void connecting_serve(const struct plan *plan); /* in the reaper: a message is there */

#endif
