/* The call that a task is in. */
#ifndef WARDIAN_CURRENT_CALL_H
#define WARDIAN_CURRENT_CALL_H

#include "call.h"

#include <stdbool.h>

bool read_current_call(struct call *call); /* of call->task; false if it is in none */

#endif
