/* Failing: no step of the launcher returns an error; the first failure ends the run. */
#ifndef WARDIAN_FAIL_H
#define WARDIAN_FAIL_H

#include <stdint.h>

/* `wall`: the protection that could not be put up; `what`: the step that failed. */
_Noreturn void die(int error, const char *wall, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fail_of_command(uint64_t command); /* from here on a failure is this command's, not the living sandbox's */
void fail_to_supervisor(int ctl); /* from here on die() sends a message, and the supervisor reports it */

struct failure {
    int error;
    char wall[48];
    char what[400];
};
void emit_failure(const struct failure *failure);
_Noreturn void die_again(const struct failure *failure); /* in the supervisor, as that message says */

#endif
