/* Failing: one JSON line to the caller, or one message to the supervisor, who writes it. */
#define _GNU_SOURCE
#include "fortify.h"
#include "fail.h"
#include "channel.h"
#include "descriptors.h"
#include "relay.h"
#include "status.h"
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int supervisor_ctl = -1; /* in the supervisor itself there is none */

static uint64_t failing; /* command of a living sandbox, or 0 */

void fail_to_supervisor(int ctl) { supervisor_ctl = ctl; }

void fail_of_command(uint64_t command) { failing = command; }

void emit_failure(const struct failure *failure) {
    char what[1200], wall[200];
    json_escape(what, sizeof what, failure->what, strnlen(failure->what, sizeof failure->what));
    json_escape(wall, sizeof wall, failure->wall, strnlen(failure->wall, sizeof failure->wall));
    emit("{\"event\":\"failed\",\"wall\":\"%s\",\"what\":\"%s\",\"errno\":%d}", wall, what,
         failure->error);
}

_Noreturn void die_again(const struct failure *failure) {
    emit_failure(failure);
    relay_restore_terminal();
    close(FD_STATUS); /* the caller goes on while we clean up */
    supervise_nothing();
    _exit(125);
}

_Noreturn void die(int error, const char *wall, const char *format, ...) {
    struct message message = {.kind = MSG_FAILURE, .command = failing};
    message.failure.error = error;
    snprintf(message.failure.wall, sizeof message.failure.wall, "%s", wall);
    va_list args;
    va_start(args, format);
    vsnprintf(message.failure.what, sizeof message.failure.what, format, args);
    va_end(args);
    if (supervisor_ctl < 0)
        die_again(&message.failure);
    channel_send(supervisor_ctl, &message, NULL, 0);
    _exit(125);
}
