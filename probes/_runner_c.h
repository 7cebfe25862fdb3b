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
 * A specimen of a system call makes several checks instead, each in a child of its own:
 *
 *   CHECK(reads_what_was_written) {
 *       int fd = file_with("file", "glass");
 *       want(read(fd, bytes, 5) == 5, "not five bytes");
 *   }
 *   CHECK(refuses_a_closed_descriptor) {
 *       refuses(read(-1, bytes, 5), EBADF, "read -1");
 *   }
 *   CHECKS
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

/* In a check: whatever it leaves at its scratch paths is removed after it, however it ends. */
/* Go to an empty directory of the check's own, once. */
void own_directory(void);
/* A new file there with this text, open for reading and writing, at its start. */
int file_with(const char *name, const char *text);
/* Go to a mount namespace of the check's own, as its administrator: what is mounted there reaches
 * nobody else. -1 and errno if it may not. */
int own_mounts(void);
/* What a call returned, if it succeeded; the check fails with its errno if not. */
long works(long result, const char *what);
/* The same; failing with this errno means that it can't be asked here, for something is missing. */
long works_if_offered(long result, int absent, const char *what);
/* The call must have failed with this errno. */
void refuses(long result, int number, const char *what);
/* What was found must be so; the check fails with what the rest says if not. */
#define want(so, ...) ((so) ? (void)0 : blocked_with(0, __VA_ARGS__))
/* Whether something comes true within two seconds, asked every millisecond. */
#define soon(so)                                                                                   \
    ({                                                                                             \
        long rests_until = ms_now() + 2000;                                                        \
        int came;                                                                                  \
        while (!(came = (so)) && ms_now() < rests_until)                                           \
            rest();                                                                                \
        came;                                                                                      \
    })
long ms_now(void);
void rest(void);
/* A child that does this and ends with 0; it dies with the check. */
int child_that(void (*does)(void));
/* What such a child may do: nothing, until a signal ends it. */
void waits(void);
/* How a child ended, as wait(2) reports it. */
int end_of(int pid);
/* Whether the check holds a capability; giving all of them up. */
int holds(int capability);
void be_ordinary(void);

void add_check(const char *name, void (*check)(void));
/* All checks, in their order. The specimen is allowed if each of them is. */
void make_checks(void) __attribute__((noreturn));

#define CHECK(name)                                                                                \
    static void check_##name(void);                                                                \
    __attribute__((constructor)) static void add_##name(void) {                                    \
        add_check(#name, check_##name);                                                            \
    }                                                                                              \
    static void check_##name(void)

#define CHECKS PROBE(make_checks)

int probe_main(int argc, char **argv, const char *file, const char *capability,
               void (*exercise)(void));

#define PROBE(exercise)                                                                            \
    int main(int argc, char **argv) {                                                              \
        return probe_main(argc, argv, __FILE__, CAPABILITY, exercise);                             \
    }

#endif
