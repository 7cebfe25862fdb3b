/* Runs a harness once over each file named, where libFuzzer is not to be had. */
#include "fuzz.h"

int main(int argc, char **argv) {
    static uint8_t bytes[1 << 20];
    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
        if (n < 0) {
            perror(argv[i]);
            return 1;
        }
        close(fd);
        LLVMFuzzerTestOneInput(bytes, (size_t)n);
    }
    printf("%d replayed\n", argc - 1);
    return 0;
}
