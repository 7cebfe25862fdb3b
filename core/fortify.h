/* What _FORTIFY_SOURCE does in a C library, for the launcher's own: a copy, a fill or a read that is
 * larger than what it goes to, as far as the compiler knows its size, ends the process. Every file of the
 * launcher includes it first; with the system's C library it is empty. */
#if !defined(WARDIAN_FORTIFY_H) && defined(WARDIAN_OWN_LIBC)
#define WARDIAN_FORTIFY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __has_builtin
#if __has_builtin(__builtin_dynamic_object_size)
#define ROOM_AT(at) __builtin_dynamic_object_size((at), 0)
#endif
#endif
#ifndef ROOM_AT
#define ROOM_AT(at) __builtin_object_size((at), 0)
#endif

#define FORTIFIED static inline __attribute__((always_inline, unused))

FORTIFIED void fit(size_t n, size_t room) {
    if (n > room) /* of unknown size: SIZE_MAX */
        __builtin_trap();
}

FORTIFIED void *fortified_memcpy(void *to, const void *from, size_t n) {
    fit(n, ROOM_AT(to));
    fit(n, ROOM_AT(from));
    return memcpy(to, from, n);
}
FORTIFIED void *fortified_memset(void *to, int byte, size_t n) {
    fit(n, ROOM_AT(to));
    return memset(to, byte, n);
}
FORTIFIED ssize_t fortified_read(int fd, void *to, size_t n) {
    fit(n, ROOM_AT(to));
    return read(fd, to, n);
}
FORTIFIED ssize_t fortified_pread(int fd, void *to, size_t n, off_t at) {
    fit(n, ROOM_AT(to));
    return pread(fd, to, n, at);
}
FORTIFIED ssize_t fortified_readlinkat(int dir, const char *path, char *to, size_t n) {
    fit(n, ROOM_AT(to));
    return readlinkat(dir, path, to, n);
}
FORTIFIED ssize_t fortified_write(int fd, const void *from, size_t n) {
    fit(n, ROOM_AT(from));
    return write(fd, from, n);
}
FORTIFIED __attribute__((format(printf, 3, 0))) int fortified_vsnprintf(char *to, size_t n, const char *format,
                                                                        va_list args) {
    fit(n, ROOM_AT(to));
    return vsnprintf(to, n, format, args);
}

#define memcpy(to, from, n) fortified_memcpy((to), (from), (n))
#define memset(to, byte, n) fortified_memset((to), (byte), (n))
#define read(fd, to, n) fortified_read((fd), (to), (n))
#define pread(fd, to, n, at) fortified_pread((fd), (to), (n), (at))
#define readlinkat(dir, path, to, n) fortified_readlinkat((dir), (path), (to), (n))
#define write(fd, from, n) fortified_write((fd), (from), (n))
#define vsnprintf(to, n, format, args) fortified_vsnprintf((to), (n), (format), (args))
#define snprintf(to, n, ...) (fit((n), ROOM_AT(to)), snprintf((to), (n), __VA_ARGS__))

#endif
