/* The monotonic clock. */
#ifndef WARDIAN_MONOTONIC_H
#define WARDIAN_MONOTONIC_H

#include <stdint.h>

int64_t now_us(void);
uint64_t now_ns(void);

#endif
