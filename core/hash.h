/* FNV-1a, 32 bits: the first slot to try in a hash table. */
#ifndef WARDIAN_HASH_H
#define WARDIAN_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 2166136261U
#define HASH_PRIME 16777619U

static inline uint32_t hash_number(uint32_t hash, uint32_t number) { return (hash ^ number) * HASH_PRIME; }

static inline uint32_t hash_bytes(uint32_t hash, const char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        hash = hash_number(hash, (uint8_t)bytes[i]);
    return hash;
}

#endif
