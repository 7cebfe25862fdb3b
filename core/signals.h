/* Signals: nothing of the caller's set-up reaches the launcher or the guest. */
#ifndef WARDIAN_SIGNALS_H
#define WARDIAN_SIGNALS_H

void reset_signals(void);
void reset_realtime_signals(void);
int listen_for_signals(void); /* blocked, and read from this descriptor instead */

#endif
