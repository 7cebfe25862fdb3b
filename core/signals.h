/* Resets the signal set-up inherited from the caller. */
#ifndef WARDIAN_SIGNALS_H
#define WARDIAN_SIGNALS_H

void reset_signals(void);
int listen_for_signals(void); /* in the supervisor: a descriptor to read them from */

#endif
