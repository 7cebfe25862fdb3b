/* What a C specimen needs: command line, observation, exit code. It needs no wardian.
 *
 *   #define CAPABILITY "filesystem_tmp_write"
 *   #include "_runner_c.h"
 *   static void exercise(void) {
 *       int fd = open("/tmp/x", O_CREAT | O_RDWR, 0600);
 *       if (fd < 0)
 *           blocked("open /tmp/x");          // errno is recorded
 *       allowed("opened %d", fd);
 *   }
 *   PROBE(exercise)
 *
 * By hand: cc -D_GNU_SOURCE -Iprobes -o x probes/core/…/x.c probes/_runner_c.c && ./x --output x.json
 * The verdicts end the exercise; coming to its end means allowed.
 */
#ifndef WARDIAN_RUNNER_C_H
#define WARDIAN_RUNNER_C_H

#include <errno.h>
#include <stddef.h>

#define PROBE_PRINTF(n) __attribute__((format(printf, n, n + 1), noreturn))

/* The operation was performed. */
void allowed(const char *format, ...) PROBE_PRINTF(1);
/* The operation was refused; the errno is the current one. */
void blocked(const char *format, ...) PROBE_PRINTF(1);
/* The operation was refused with this errno; 0 for none. */
void blocked_with(int number, const char *format, ...) PROBE_PRINTF(2);
/* The question can't be put here: something is missing. */
void unavailable(const char *format, ...) PROBE_PRINTF(1);
/* The specimen itself is at fault. */
void faulty(const char *format, ...) PROBE_PRINTF(1);

/* A path in the temporary directory that no other specimen uses; nothing is made there. */
const char *scratch(const char *name);
/* What the harness placed on the host, outside the sandbox: "FILE", "PORT", …; ends as unavailable
 * without it. */
const char *witness(const char *name);
/* Perform the operation in a child, for what can't be undone and for what may kill. Its verdict
 * becomes this specimen's; a child that a signal ends is blocked. Does not return. */
void in_child(void (*exercise)(void)) __attribute__((noreturn));

int probe_main(int argc, char **argv, const char *file, const char *capability,
               void (*exercise)(void));

#define PROBE(exercise)                                                                            \
    int main(int argc, char **argv) {                                                              \
        return probe_main(argc, argv, __FILE__, CAPABILITY, exercise);                             \
    }

#endif
