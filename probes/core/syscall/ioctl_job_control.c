/* ioctl: a terminal's session, its foreground, and job control. */
#define CAPABILITY "syscall_ioctl"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

CHECK(TIOCSWINSZ_reports_the_foreground_by_SIGWINCH) {
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
    want(soon(heard[SIGHUP] && heard[SIGCONT]), "the foreground group got no signal");
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
    struct termios modes; /* as long as the kernel's at least */
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

CHECKS
