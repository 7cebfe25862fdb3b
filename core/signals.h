/* Nothing of the caller's signal set-up reaches the launcher or the guest. */
#ifndef WARDIAN_SIGNALS_H
#define WARDIAN_SIGNALS_H

void reset_signals(void);
int listen_for_signals(void); /* in the supervisor: a descriptor to read them from */

#endif
