/* What the files of `make check` share. Each CHECK that fails says where and ends the run. */
#ifndef WARDIAN_CHECK_H
#define WARDIAN_CHECK_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern size_t checks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

void check_plans(void);

#endif
