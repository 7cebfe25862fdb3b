/* The status descriptor: JSON lines that report to the caller. */
#ifndef WARDIAN_STATUS_H
#define WARDIAN_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Only if it fits into the pipe at once: a run never waits for its reader. */
void emit_at_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
size_t json_escape(char *out, size_t size, const char *text, size_t len);

/* In a living sandbox each command has a status pipe of its own, which lines go to in between. A line that
 * does not fit is dropped and counted: a slow reader must not hold up the others. */
void status_prepare(int fd);
void status_to(int fd);
void status_closing(void);  /* only the last lines follow */
void status_to_caller(void); /* back to the sandbox's own */
uint64_t status_lost(void);  /* how many were dropped, since the last call */

void status_while(int parent_pidfd); /* from here on, writing never outlasts the caller */
bool reader_waits(int fd);           /* waits until it takes more; false: the caller is gone */

#endif
