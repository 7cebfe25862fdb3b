/* ioctl: a terminal's settings and size. */
#define CAPABILITY "syscall_ioctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

static int far, near; /* where a user would sit, where programs are */

static long control(int fd, unsigned long request, const void *argument) {
    return syscall(SYS_ioctl, fd, request, argument);
}

static void open_terminal(void) {
    far = (int)works(posix_openpt(O_RDWR | O_NOCTTY), "posix_openpt");
    works(unlockpt(far), "unlockpt");
    near = (int)works(open(ptsname(far), O_RDWR | O_NOCTTY), "open the terminal");
}

static void type(const char *text) {
    works(write(far, text, strlen(text)), "write");
}

/* The next bytes, so many or what comes of them in two seconds; they may come one by one. */
static const char *coming(int fd, size_t count) {
    static char text[65];
    size_t size = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    while (size < count && poll(&ready, 1, 2000) == 1) {
        ssize_t more = read(fd, text + size, count - size);
        if (more <= 0)
            break;
        size += (size_t)more;
    }
    text[size] = 0;
    return text;
}

/* The kernel's structure, which TCGETS and its like take; libc's begins alike. */
static struct {
    tcflag_t input, output, control, local;
    cc_t line, keys[19], room[64];
} modes;

CHECK(TCGETS_reports_the_settings) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    want(modes.local & ICANON && modes.local & ECHO && modes.local & ISIG, "%#x", modes.local);
    want(modes.keys[VINTR] == 3, "the interrupt key is %d", modes.keys[VINTR]);
}

CHECK(TCSETS_turns_off_the_echo) {
    open_terminal();
    type("a\n");
    want(strcmp(coming(far, 3), "a\r\n") == 0, "no echo");
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.local &= ~(tcflag_t)ECHO;
    works(control(near, TCSETS, &modes), "TCSETS");
    type("b\n");
    works(write(near, "c", 1), "write");
    want(strcmp(coming(far, 1), "c") == 0, "still an echo");
}

CHECK(TCSETS_gives_bytes_without_a_line) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.local &= ~(tcflag_t)(ICANON | ECHO);
    modes.keys[VMIN] = 1;
    works(control(near, TCSETS, &modes), "TCSETS");
    type("x");
    want(strcmp(coming(near, 1), "x") == 0, "no byte");
}

CHECK(TCSETSW_is_kept) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.output &= ~(tcflag_t)OPOST;
    works(control(near, TCSETSW, &modes), "TCSETSW");
    works(write(near, "a\n", 2), "write");
    want(strcmp(coming(far, 2), "a\n") == 0, "a line end is still made two bytes");
}

CHECK(TCSETSF_throws_away_what_was_typed) {
    int left = -1;
    open_terminal();
    type("typed before\n");
    want(soon(control(near, FIONREAD, &left) == 0 && left == 13), "%d bytes", left);
    works(control(near, TCGETS, &modes), "TCGETS");
    works(control(near, TCSETSF, &modes), "TCSETSF");
    works(control(near, FIONREAD, &left), "FIONREAD");
    want(left == 0, "%d bytes are left", left);
}

CHECK(TCFLSH_throws_away_what_was_typed) {
    int left = -1;
    open_terminal();
    type("typed before\n");
    want(soon(control(near, FIONREAD, &left) == 0 && left == 13), "%d bytes", left);
    works(control(near, TCFLSH, (void *)TCIFLUSH), "TCFLSH");
    works(control(near, FIONREAD, &left), "FIONREAD");
    want(left == 0, "%d bytes are left", left);
    refuses(control(near, TCFLSH, (void *)99), EINVAL, "TCFLSH 99");
}

CHECK(TIOCSWINSZ_sets_the_size_of_both_ends) {
    struct winsize size = {.ws_row = 33, .ws_col = 99}, current = {0};
    open_terminal();
    works(control(far, TIOCSWINSZ, &size), "TIOCSWINSZ");
    works(control(near, TIOCGWINSZ, &current), "TIOCGWINSZ");
    want(current.ws_row == 33 && current.ws_col == 99, "%d × %d", current.ws_row, current.ws_col);
}

CHECK(TIOCPKT_reports_flushes_and_data) {
    int on = 1;
    open_terminal();
    works(control(far, TIOCPKT, &on), "TIOCPKT");
    works(write(near, "data", 4), "write");
    struct pollfd ready = {.fd = far, .events = POLLIN};
    char bytes[16];
    want(poll(&ready, 1, 2000) == 1 && read(far, bytes, sizeof bytes) == 5, "no packet");
    want(bytes[0] == TIOCPKT_DATA && memcmp(bytes + 1, "data", 4) == 0, "other data");
    works(control(near, TCFLSH, (void *)TCIFLUSH), "TCFLSH");
    want(poll(&ready, 1, 2000) == 1 && read(far, bytes, sizeof bytes) == 1, "no packet");
    want(bytes[0] & TIOCPKT_FLUSHREAD, "the packet is %#x", bytes[0]);
}

CHECK(TIOCSPTLCK_keeps_the_terminal_shut) {
    int locked = 1, number = -1;
    open_terminal();
    works(control(far, TIOCGPTN, &number), "TIOCGPTN");
    want(number >= 0 && atoi(strrchr(ptsname(far), '/') + 1) == number, "number %d", number);
    works(control(far, TIOCSPTLCK, &locked), "TIOCSPTLCK");
    refuses(open(ptsname(far), O_RDWR | O_NOCTTY), EIO, "open of a locked terminal");
}

CHECK(TIOCEXCL_keeps_others_out) {
    open_terminal();
    be_ordinary();
    works(control(near, TIOCEXCL, NULL), "TIOCEXCL");
    refuses(open(ptsname(far), O_RDWR | O_NOCTTY), EBUSY, "open");
    works(control(near, TIOCNXCL, NULL), "TIOCNXCL");
    works(open(ptsname(far), O_RDWR | O_NOCTTY), "open");
}

CHECK(TCXONC_stops_and_starts_output) {
    open_terminal();
    works(control(near, TCXONC, (void *)TCOOFF), "TCOOFF");
    fcntl(near, F_SETFL, O_RDWR | O_NONBLOCK);
    refuses(write(near, "x", 1), EAGAIN, "write while it is stopped");
    works(control(near, TCXONC, (void *)TCOON), "TCOON");
    works(write(near, "x", 1), "write");
    want(strcmp(coming(far, 1), "x") == 0, "no byte");
}

CHECK(refuses_what_is_no_terminal) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(control(ends[0], TCGETS, &modes), ENOTTY, "TCGETS of a pipe");
    refuses(control(ends[0], TIOCGWINSZ, &modes), ENOTTY, "TIOCGWINSZ of a pipe");
    refuses(control(-1, TCGETS, &modes), EBADF, "TCGETS of -1");
}

CHECK(refuses_a_bad_address) {
    open_terminal();
    refuses(control(near, TCGETS, (void *)8), EFAULT, "TCGETS to address 8");
    refuses(control(near, TCSETS, (void *)8), EFAULT, "TCSETS from address 8");
    refuses(control(near, TIOCGWINSZ, (void *)8), EFAULT, "TIOCGWINSZ to address 8");
}

CHECK(refuses_an_unknown_request) {
    open_terminal();
    refuses(control(near, 0x54ff, NULL), ENOTTY, "request 0x54ff");
}

CHECKS
