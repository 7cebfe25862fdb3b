/* ioctl: a terminal's settings, size, session and job control. */
#define CAPABILITY "syscall_ioctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int far, near; /* where a user would sit, where programs are */
static volatile int heard[65];

static long control(int fd, unsigned long request, const void *argument) {
    return syscall(SYS_ioctl, fd, request, argument);
}

static void open_terminal(void) {
    far = (int)works(posix_openpt(O_RDWR | O_NOCTTY), "posix_openpt");
    works(unlockpt(far), "unlockpt");
    near = (int)works(open(ptsname(far), O_RDWR | O_NOCTTY), "open the terminal");
}

/* A terminal that controls a session of the check's own. */
static void open_controlling(void) {
    works(setsid(), "setsid");
    open_terminal();
    works(control(near, TIOCSCTTY, 0), "TIOCSCTTY");
}

static void hear(int signal) {
    heard[signal] = 1;
}

static void type(const char *text) {
    works(write(far, text, strlen(text)), "write");
}

/* What comes within a time: up to 64 bytes. */
static const char *coming(int fd, int limit_ms) {
    static char text[65];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    ssize_t size = poll(&ready, 1, limit_ms) == 1 ? read(fd, text, 64) : 0;
    text[size > 0 ? size : 0] = 0;
    return text;
}

/* The kernel's structure, which TCGETS and its like take; libc's begins alike. */
static struct {
    tcflag_t input, output, control, local;
    cc_t line, keys[19], room[64];
} modes;

CHECK(TCGETS_tells_the_settings) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    want(modes.local & ICANON && modes.local & ECHO && modes.local & ISIG, "%#x", modes.local);
    want(modes.keys[VINTR] == 3, "the interrupt key is %d", modes.keys[VINTR]);
}

CHECK(TCSETS_turns_off_the_echo) {
    open_terminal();
    type("a\n");
    want(strcmp(coming(far, 2000), "a\r\n") == 0, "no echo");
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.local &= ~(tcflag_t)ECHO;
    works(control(near, TCSETS, &modes), "TCSETS");
    type("b\n");
    works(write(near, "c", 1), "write");
    want(strcmp(coming(far, 2000), "c") == 0, "still an echo");
}

CHECK(TCSETS_gives_bytes_without_a_line) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.local &= ~(tcflag_t)(ICANON | ECHO);
    modes.keys[VMIN] = 1;
    works(control(near, TCSETS, &modes), "TCSETS");
    type("x");
    want(strcmp(coming(near, 2000), "x") == 0, "no byte");
}

CHECK(TCSETSW_is_kept) {
    open_terminal();
    works(control(near, TCGETS, &modes), "TCGETS");
    modes.output &= ~(tcflag_t)OPOST;
    works(control(near, TCSETSW, &modes), "TCSETSW");
    works(write(near, "a\n", 2), "write");
    want(strcmp(coming(far, 2000), "a\n") == 0, "a line end is still made two bytes");
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
    struct winsize size = {.ws_row = 33, .ws_col = 99}, told = {0};
    open_terminal();
    works(control(far, TIOCSWINSZ, &size), "TIOCSWINSZ");
    works(control(near, TIOCGWINSZ, &told), "TIOCGWINSZ");
    want(told.ws_row == 33 && told.ws_col == 99, "%d × %d", told.ws_row, told.ws_col);
}

CHECK(TIOCSWINSZ_tells_the_foreground_by_SIGWINCH) {
    struct winsize size = {.ws_row = 34, .ws_col = 98};
    open_controlling();
    signal(SIGWINCH, hear);
    works(control(far, TIOCSWINSZ, &size), "TIOCSWINSZ");
    want(soon(heard[SIGWINCH]), "no SIGWINCH");
    heard[SIGWINCH] = 0;
    works(control(far, TIOCSWINSZ, &size), "the same size");
    want(!heard[SIGWINCH], "SIGWINCH without a change");
}

CHECK(TIOCSCTTY_makes_it_the_sessions) {
    int session = 0;
    open_controlling();
    works(control(near, TIOCGSID, &session), "TIOCGSID");
    want(session == getpid(), "the session is %d", session);
    close((int)works(open("/dev/tty", O_RDWR), "open /dev/tty"));
}

static void takes_the_terminal(void) {
    _exit(control(near, TIOCSCTTY, 0) == -1 ? errno : 0);
}

CHECK(TIOCSCTTY_refuses_who_leads_no_session) {
    open_terminal();
    want(end_of(child_that(takes_the_terminal)) == EPERM << 8, "not refused");
}

static void leads_and_takes(void) {
    setsid();
    takes_the_terminal();
}

CHECK(TIOCSCTTY_refuses_another_sessions_terminal) {
    open_controlling();
    want(end_of(child_that(leads_and_takes)) == EPERM << 8, "not refused");
}

CHECK(TIOCSPGRP_chooses_the_foreground) {
    int group = 0;
    open_controlling();
    works(control(near, TIOCGPGRP, &group), "TIOCGPGRP");
    want(group == getpid(), "the group is %d", group);
    pid_t child = child_that(waits);
    works(setpgid(child, child), "setpgid");
    works(control(near, TIOCSPGRP, &child), "TIOCSPGRP");
    works(control(near, TIOCGPGRP, &group), "TIOCGPGRP");
    want(group == child, "the group is %d", group);
    want(tcgetpgrp(near) == child, "tcgetpgrp says otherwise");
}

static void leads(void) {
    setsid();
    waits();
}

CHECK(TIOCSPGRP_refuses_other_sessions_and_nobody) {
    open_controlling();
    pid_t child = child_that(leads), nobody = 0x7ffffff0, negative = -1;
    want(soon(getsid(child) == child), "no session");
    refuses(control(near, TIOCSPGRP, &child), EPERM, "another session's group");
    refuses(control(near, TIOCSPGRP, &nobody), ESRCH, "nobody's group");
    refuses(control(near, TIOCSPGRP, &negative), EINVAL, "a negative group");
}

CHECK(TIOCGPGRP_and_TIOCGSID_refuse_a_terminal_of_no_session) {
    int number;
    open_terminal();
    refuses(control(near, TIOCGPGRP, &number), ENOTTY, "TIOCGPGRP");
    refuses(control(near, TIOCGSID, &number), ENOTTY, "TIOCGSID");
    refuses(control(near, TIOCNOTTY, NULL), ENOTTY, "TIOCNOTTY");
}

CHECK(TIOCNOTTY_leaves_the_terminal) {
    open_controlling();
    signal(SIGHUP, hear);
    signal(SIGCONT, hear);
    works(control(near, TIOCNOTTY, NULL), "TIOCNOTTY");
    want(open("/dev/tty", O_RDWR) == -1 && errno == ENXIO, "it is still there");
    want(soon(heard[SIGHUP] && heard[SIGCONT]), "the foreground was not told");
}

static void reads_in_the_background(void) {
    char line[16] = "";
    setpgid(0, 0);
    _exit(read(near, line, sizeof line) == 6 && strcmp(line, "words\n") == 0 ? 7 : 1);
}

CHECK(reading_in_the_background_stops_until_called_forth) {
    int status;
    open_controlling();
    pid_t child = child_that(reads_in_the_background);
    want(waitpid(child, &status, WUNTRACED) == child, "waitpid");
    want(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN, "status is %#x", status);
    works(control(near, TIOCSPGRP, &child), "TIOCSPGRP");
    works(kill(-child, SIGCONT), "kill");
    type("words\n");
    want(WEXITSTATUS(end_of(child)) == 7, "it did not read the line");
}

static void sets_in_the_background(void) {
    setpgid(0, 0);
    control(near, TCGETS, &modes);
    control(near, TCSETS, &modes);
}

CHECK(setting_in_the_background_stops) {
    int status;
    open_controlling();
    pid_t child = child_that(sets_in_the_background);
    want(waitpid(child, &status, WUNTRACED) == child, "waitpid");
    want(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTOU, "status is %#x", status);
}

static void ignores_and_reads(void) {
    char byte;
    setpgid(0, 0);
    signal(SIGTTIN, SIG_IGN);
    _exit(read(near, &byte, 1) == -1 ? errno : 0);
}

CHECK(reading_in_the_background_fails_for_who_ignores_it) {
    open_controlling();
    want(end_of(child_that(ignores_and_reads)) == EIO << 8, "not EIO");
}

CHECK(keys_signal_the_foreground) {
    open_controlling();
    signal(SIGINT, hear);
    signal(SIGQUIT, hear);
    signal(SIGTSTP, hear);
    type("\003\034\032");
    want(soon(heard[SIGINT] && heard[SIGQUIT] && heard[SIGTSTP]), "not all were heard");
}

CHECK(the_far_ends_closing_hangs_up) {
    char byte;
    open_controlling();
    signal(SIGHUP, hear);
    close(far);
    want(soon(heard[SIGHUP]), "no SIGHUP");
    want(read(near, &byte, 1) == 0, "there is something to read");
    refuses(write(near, "x", 1), EIO, "write");
}

CHECK(TIOCPKT_tells_of_flushes_and_data) {
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
    want(strcmp(coming(far, 2000), "x") == 0, "no byte");
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
