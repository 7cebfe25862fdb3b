/* The few string and formatting functions of a C library that the launcher uses; libc.c has the system calls. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Strings */

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
#if defined(__x86_64__) && !defined(WARDIAN_HOSTED)
    __asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
#else
    while (n--)
        *t++ = *f++;
#endif
    return to;
}
void *memset(void *to, int byte, size_t n) {
    unsigned char *t = to;
#if defined(__x86_64__) && !defined(WARDIAN_HOSTED)
    __asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(byte) : "memory");
#else
    while (n--)
        *t++ = (unsigned char)byte;
#endif
    return to;
}
int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}
size_t strnlen(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n])
        n++;
    return n;
}
size_t strlen(const char *s) { return strnlen(s, (size_t)-1); }
int strcmp(const char *a, const char *b) {
    for (; *a && *a == *b; a++, b++)
        ;
    return (unsigned char)*a - (unsigned char)*b;
}
char *strchr(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}
char *strrchr(const char *s, int c) {
    const char *found = NULL;
    do {
        if (*s == (char)c)
            found = s;
    } while (*s++);
    return (char *)(uintptr_t)found;
}
size_t strcspn(const char *s, const char *reject) {
    size_t n = 0;
    while (s[n] && !strchr(reject, s[n]))
        n++;
    return n;
}
size_t strspn(const char *s, const char *accept) {
    size_t n = 0;
    while (s[n] && strchr(accept, s[n]))
        n++;
    return n;
}
char *strstr(const char *s, const char *needle) {
    size_t n = strlen(needle);
    for (; *s; s++)
        if (*s == *needle && strnlen(s, n) == n && memcmp(s, needle, n) == 0)
            return (char *)(uintptr_t)s;
    return NULL;
}

/* Formatting: %s %d %u %lu %lld %llu and %%, which is all that is used here */

struct output {
    char *at;
    size_t room, used;
};

static void put(struct output *out, char c) {
    if (out->used + 1 < out->room)
        out->at[out->used] = c;
    out->used++;
}

static void put_number(struct output *out, uint64_t value, bool negative) {
    char digits[24];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    if (negative)
        put(out, '-');
    while (n)
        put(out, digits[--n]);
}

int vsnprintf(char *restrict to, size_t room, const char *restrict format, va_list args) {
    struct output out = {to, room, 0};
    for (; *format; format++) {
        if (*format != '%') {
            put(&out, *format);
            continue;
        }
        int longs = 0;
        while (*++format == 'l')
            longs++;
        if (*format == 's') {
            for (const char *s = va_arg(args, const char *); *s; s++)
                put(&out, *s);
        } else if (*format == 'd') {
            int64_t value = longs ? va_arg(args, long) : va_arg(args, int);
            put_number(&out, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
        } else if (*format == 'u') {
            put_number(&out, longs ? va_arg(args, unsigned long) : va_arg(args, unsigned), false);
        } else {
            put(&out, *format);
        }
    }
    if (room)
        to[out.used < room ? out.used : room - 1] = '\0';
    return (int)out.used;
}

int snprintf(char *restrict to, size_t room, const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to, room, format, args);
    va_end(args);
    return n;
}
