/* The launcher's own C library against the system's: strings, comparisons, formatting. */
#include "fuzz.h"

#include <stdarg.h>

struct theirs {
    char text[512];
    int len;
};

__attribute__((format(printf, 3, 0))) static int format_as_system(char *to, size_t room, const char *form, va_list args) {
    return vsnprintf(to, room, form, args);
}

static struct {
    __typeof__(strlen) *len;
    __typeof__(strnlen) *nlen;
    __typeof__(strcmp) *cmp;
    __typeof__(memcmp) *mcmp;
    char *(*chr)(const char *, int), *(*rchr)(const char *, int), *(*str)(const char *, const char *);
    __typeof__(strspn) *span, *cspan;
} system_ = {strlen, strnlen, strcmp, memcmp, (char *(*)(const char *, int))strchr,
             (char *(*)(const char *, int))strrchr, (char *(*)(const char *, const char *))strstr, strspn, strcspn};

#include "../libc_hosted.h"
#include "../libc.c"
#include "../libc_text.c"

static int sign(int value) { return (value > 0) - (value < 0); }

static void formats(size_t room, const char *form, ...) {
    char *ours = malloc(room + 1);
    char theirs[4096];
    va_list args, again;
    va_start(args, form);
    va_copy(again, args);
    memset(ours, '?', room + 1);
    int n = vsnprintf(ours, room, form, args);
    int m = format_as_system(theirs, sizeof theirs, form, again);
    va_end(args);
    va_end(again);
    HOLDS(n == m && ours[room] == '?');
    if (room) {
        size_t kept = (size_t)n < room - 1 ? (size_t)n : room - 1;
        HOLDS(ours[kept] == '\0' && (size_t)m < sizeof theirs && memcmp(ours, theirs, kept) == 0);
    }
    free(ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 9 || size > 1024)
        return 0;
    uint64_t number;
    memcpy(&number, data, sizeof number);
    size_t cut = data[8] % (size - 8);
    char *a = malloc(cut + 1), *b = malloc(size - 8 - cut);
    memcpy(a, data + 9, cut < size - 9 ? cut : size - 9);
    a[cut] = '\0';
    memcpy(b, data + 9 + cut, size - 9 - cut);
    b[size - 9 - cut] = '\0';
    HOLDS(strlen(a) == system_.len(a) && strnlen(b, number % 40) == system_.nlen(b, number % 40));
    HOLDS(sign(strcmp(a, b)) == sign(system_.cmp(a, b)));
    size_t least = cut < size - 9 - cut ? cut : size - 9 - cut;
    HOLDS(sign(memcmp(a, b, least)) == sign(system_.mcmp(a, b, least)));
    HOLDS(strchr(a, (int)number) == system_.chr(a, (int)number));
    HOLDS(strrchr(a, (int)number) == system_.rchr(a, (int)number));
    HOLDS(strspn(a, b) == system_.span(a, b) && strcspn(a, b) == system_.cspan(a, b));
    if (*b)
        HOLDS(strstr(a, b) == system_.str(a, b));
    formats(number % 70, "%s|%d|%s", a, (int)number, b);
    formats(number % 50, "%lld %llu %lu", (long long)number, (unsigned long long)~number, (unsigned long)number);
    formats(number % 30, "%u%%%d", (unsigned)number, (int)(number >> 32));
    free(a);
    free(b);
    return 0;
}
