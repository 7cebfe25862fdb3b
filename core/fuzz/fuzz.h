/* What the harnesses share. Each is one file with LLVMFuzzerTestOneInput: libFuzzer drives it, or
 * replay.c where there is no clang. A harness that needs a static function includes its file. */
#ifndef WARDIAN_FUZZ_H
#define WARDIAN_FUZZ_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds, or ends the process the way a sanitizer would. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
