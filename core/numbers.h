/* Decimal numbers in text such as /proc gives. */
#ifndef WARDIAN_NUMBERS_H
#define WARDIAN_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

const char *next_number(const char *text, uint64_t *value);
uint64_t number_after(const char *text, const char *label, bool last); /* the first, or the line's last */
uint64_t kilobytes_after(const char *text, const char *label);         /* in bytes */

#endif
