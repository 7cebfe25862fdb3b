/* Signals of a confined guest, where the kernel's Landlock does not judge them (before ABI 6). */
#ifndef WARDIAN_SENT_SIGNALS_H
#define WARDIAN_SENT_SIGNALS_H

#include "deputy.h"

struct deputy_answer sent_signal(int listener, const struct seccomp_notif *request, const struct call *call);

#endif
