/* What the parts of the executor know of each other. */
#ifndef WARDIAN_EXECUTOR_H
#define WARDIAN_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

/* executor.c: says what failed and why, and ends with 3. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* oracle.c: goes where nothing can be harmed; the rest of the program goes on in a child there. */
void become_oracle(void);
/* oracle.c: ends unless this process is an ordinary user's, without capabilities. In sandboxes with
 * users of their own, root may be such a user. */
void require_no_rights(bool root_is_nobody);

/* scratch.c: the directory that each program finds as its own, and what is in it afterwards. */
#define MAX_LISTING 8192
struct listing {
    size_t used; /* 0 if it was too long */
    bool whole;
    char text[MAX_LISTING];
};
void reset_scratch(void);
void list_scratch(struct listing *listing);

#endif
