/* Reading decimal numbers out of text such as /proc gives. */
#include "fortify.h"
#include "numbers.h"

#include <string.h>

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

uint64_t number_after(const char *text, const char *label, bool last) {
    const char *at = strstr(text, label);
    uint64_t value = 0;
    if (!at)
        return 0;
    at += strlen(label);
    const char *end = at + strcspn(at, "\n");
    while (at && at < end) {
        at = next_number(at, &value);
        if (!last)
            break;
        at = at ? at + strspn(at, "\t ") : at;
    }
    return value;
}

uint64_t kilobytes_after(const char *text, const char *label) {
    const char *at = strstr(text, label);
    uint64_t kilobytes;
    return at && next_number(at + strlen(label), &kilobytes) ? kilobytes * 1024 : 0;
}
