/* A check that ends the program and prints its place if it fails. */
#ifndef WARDIAN_CHECK_H
#define WARDIAN_CHECK_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern size_t checks; /* how many were made */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

void check_plans(void); /* check_plans.c */

#endif
