/* The call that a task is in, as /proc/PID/syscall has it. */
#define _GNU_SOURCE
#include "fortify.h"
#include "current_call.h"
#include "call.h"
#include "numbers.h"
#include "tasks.h"

#include <poll.h>
#include <string.h>

enum { ASLEEP_TRIES = 200 };

/* /proc/PID/syscall says "running" of a task whose notification has arrived but which is not asleep yet; on a
 * busy machine that takes a while. The task can't go on before it is answered. */
static bool read_when_asleep(pid_t task, char *text, size_t size) {
    for (int tries = 0; tries < ASLEEP_TRIES; tries++) {
        if (tries > 0)
            poll(NULL, 0, tries < ASLEEP_TRIES / 2 ? 0 : 1);
        if (task_read(task, "syscall", text, size) <= 0)
            return false;
        if (*text != 'r') /* running */
            return true;
    }
    return false;
}

/* "NUMBER 0xARG … 0xSP 0xPC", as /proc/PID/syscall has it of a task that waits in a call. */
bool read_current_call(struct call *call) {
    char text[256];
    if (!read_when_asleep(call->task, text, sizeof text))
        return false;
    uint64_t number;
    const char *at = next_number(text, &number);
    for (int i = 0; at && i < 6; i++) {
        at = strstr(at, "0x");
        uint64_t value = 0;
        for (at = at ? at + 2 : at; at && *at; at++) {
            unsigned digit = *at >= 'a' ? (unsigned)(*at - 'a' + 10) : (unsigned)(*at - '0');
            if (digit > 15)
                break;
            value = value << 4 | digit;
        }
        call->args[i] = value;
    }
    call->number = (int)number;
    return at && number < MAX_SYSCALL;
}
