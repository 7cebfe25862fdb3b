/* The records of a plan, one after another. */
#ifndef WARDIAN_RECORDS_H
#define WARDIAN_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_FIELDS = 6 };

struct field {
    const char *at;
    size_t len;
};

struct record {
    struct field fields[MAX_FIELDS];
    size_t count;
};

struct cursor {
    const uint8_t *at, *end;
};

bool next_record(struct cursor *cursor, struct record *record);
bool field_number(const struct field *field, uint64_t *value);
bool field_is_text(const struct field *field);

#endif
