/* foreign int80|x32: makes a call through an ABI that is not this machine's main one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
static long through_int80(long number) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0L), "c"(0L), "d"(0L) : "memory");
    return (int)result;
}

static long through_x32(long number) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number | 0x40000000L), "D"(0L), "S"(0L), "d"(0L)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int argc, char **argv) {
    enum { GETPID_32 = 20, GETPID = 39 };
    const char *abi = argc == 2 ? argv[1] : "";
    long result = strcmp(abi, "int80") == 0 ? through_int80(GETPID_32) : through_x32(GETPID);
    printf("%s %ld\n", result == getpid() ? "reached" : "refused", result);
    return 0;
}
#else
int main(void) {
    puts("absent");
    return 0;
}
#endif
