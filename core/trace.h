/* Reports everything that a run does, as it happens. */
#ifndef WARDIAN_TRACE_H
#define WARDIAN_TRACE_H

#include "call.h"
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum text_kind {
    TEXT_PATH = 1,
    TEXT_ADDRESS,
    TEXT_NAME,
    TEXT_ABSENT,    /* a path that did not exist when the call was made */
    TEXT_DIRECTORY, /* a path that was a directory */
};
struct traced_text {
    int argument;
    enum text_kind what;
    const char *at;
    size_t len;
};
void trace_begin(const struct plan *plan);
bool trace_on(void);
bool trace_has_begun(void); /* the guest has become its program */
bool trace_full(void); /* the reader is behind: no more calls until it has read */
int trace_fd(void);    /* to be polled for writing, or -1 */
void trace_flush(void);
void trace_call(const struct call *call, const struct watched *watched, int error,
                const struct traced_text *texts, size_t count, bool exists);
void trace_goes_on(pid_t task);
void trace_settle(void); /* closes the accounts of tasks that are about to be killed */
void trace_end(void);

#endif
