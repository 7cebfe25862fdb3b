/* Reading decimal numbers out of text such as /proc gives. */
#include "launch.h"

/* Skips blanks and a sign, reads digits; NULL if there are none. Wraps rather than overflows. */
const char *next_number(const char *text, uint64_t *value) {
    while (*text == ' ' || *text == '\t' || *text == '-')
        text++;
    if (*text < '0' || *text > '9')
        return NULL;
    for (*value = 0; *text >= '0' && *text <= '9'; text++)
        *value = *value * 10 + (uint64_t)(*text - '0');
    return text;
}
