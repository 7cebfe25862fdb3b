/* Splits the bytes of a plan into records; no length in them is trusted.
 *
 * A record is one byte, the number of its fields, then each field as a 32-bit little-endian length, its
 * bytes, and a NUL. The first field names the record, the rest are its arguments. Arguments that are numbers
 * are decimal text. */
#define _GNU_SOURCE
#include "fortify.h"
#include "records.h"

#include <string.h>

static bool next_field(struct cursor *cursor, struct field *field) {
    if (cursor->end - cursor->at < 4)
        return false;
    const uint8_t *p = cursor->at;
    uint32_t len = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if ((size_t)(cursor->end - p) - 4 < (size_t)len + 1 || p[4 + (size_t)len] != 0)
        return false;
    *field = (struct field){(const char *)p + 4, len};
    cursor->at = p + 5 + (size_t)len;
    return true;
}

bool next_record(struct cursor *cursor, struct record *record) {
    record->count = *cursor->at++;
    if (record->count == 0 || record->count > MAX_FIELDS)
        return false;
    for (size_t i = 0; i < record->count; i++)
        if (!next_field(cursor, &record->fields[i]))
            return false;
    return true;
}

bool field_number(const struct field *field, uint64_t *value) {
    if (field->len == 0 || field->len > 20)
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < field->len; i++) {
        unsigned digit = (unsigned)(field->at[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10U, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* A C string argument must not hide anything behind an inner NUL. */
bool field_is_text(const struct field *field) { return strlen(field->at) == field->len; }
