/* The monotonic clock. */
#define _GNU_SOURCE
#include "fortify.h"
#include "monotonic.h"

#include <time.h>

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

int64_t now_us(void) { return (int64_t)(now_ns() / 1000); }
