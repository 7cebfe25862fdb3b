/* `make check`: the launcher's pure parts under the sanitizers, alone: no sandbox is started.
 *
 * Each CHECK that fails says where and ends the run; a sanitizer's report does so by itself.
 */
#define _GNU_SOURCE
#include "fortify.h"
#include "channel.h"
#include "check.h"
#include "descriptors.h"
#include "numbers.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

size_t checks;

/* Text */

static void check_json_escape(void) {
    static const struct {
        const char *text, *escaped;
    } known[] = {{"", ""},           {"plain", "plain"},           {"a\"b\\c", "a\\\"b\\\\c"},
                 {"\n\t", "\\u000a\\u0009"}, {"\x1b[2J", "\\u001b[2J"}, {"\xc3\xbc", "\\u00c3\\u00bc"},
                 {"\x7f~ ", "\\u007f~ "}};
    char out[200];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t len = json_escape(out, sizeof out, known[i].text, strlen(known[i].text));
        CHECK(len == strlen(known[i].escaped) && strcmp(out, known[i].escaped) == 0);
    }
    char every[256];
    for (int c = 0; c < 256; c++)
        every[c] = (char)c;
    for (size_t room = 1; room < 1700; room++) {
        char *exact = malloc(room);
        CHECK(exact != NULL);
        size_t len = json_escape(exact, room, every, sizeof every);
        CHECK(len < room && exact[len] == '\0' && strlen(exact) == len);
        for (size_t i = 0; i < len; i++)
            CHECK(exact[i] >= 0x20 && exact[i] < 0x7f);
        free(exact);
    }
}

static void check_numbers(void) {
    uint64_t value = 7;
    const char *rest = next_number("  123 456", &value);
    CHECK(value == 123 && rest && strcmp(rest, " 456") == 0);
    rest = next_number(rest, &value);
    CHECK(value == 456 && rest && *rest == '\0');
    CHECK(next_number(rest, &value) == NULL && next_number("x1", &value) == NULL);
    CHECK(next_number("18446744073709551615", &value) && value == UINT64_MAX);
    CHECK(next_number("99999999999999999999999999", &value) != NULL); /* wraps, and that is all */
}

/* Messages */

static void check_channel(void) {
    int ends[2], fds[MAX_PASSED], pipes[2];
    size_t count;
    pid_t sender;
    struct message message = {.kind = MSG_EXITED}, got;
    message.exited.status = 77;
    channel_pair(ends);
    channel_send(ends[1], &message, NULL, 0);
    CHECK(channel_receive(ends[0], &got, fds, &count, &sender));
    CHECK(got.kind == MSG_EXITED && got.exited.status == 77 && count == 0 && sender == getpid());
    CHECK(pipe2(pipes, O_CLOEXEC) == 0);
    int many[MAX_PASSED];
    for (int i = 0; i < MAX_PASSED; i++)
        many[i] = pipes[i % 2];
    for (size_t n = 1; n <= MAX_PASSED; n++) {
        channel_send(ends[1], &message, many, n);
        CHECK(channel_receive(ends[0], &got, fds, &count, &sender) && count == n);
        for (size_t i = 0; i < count; i++) {
            CHECK(fcntl(fds[i], F_GETFD) == FD_CLOEXEC);
            close(fds[i]);
        }
    }
    CHECK(write(ends[1], "short", 5) == 5);
    CHECK(!channel_receive(ends[0], &got, fds, &count, &sender) && count == 0);
    channel_send(ends[0], &message, NULL, 0); /* never read: the kernel resets the connection, */
    message.exited.status = 78;
    channel_send(ends[1], &message, NULL, 0);
    close(ends[1]);
    CHECK(channel_receive(ends[0], &got, fds, &count, &sender)); /* and the last words still come */
    CHECK(got.kind == MSG_EXITED && got.exited.status == 78);
    CHECK(!channel_receive(ends[0], &got, fds, &count, &sender));
    close(ends[0]);
    close(pipes[0]);
    close(pipes[1]);
}

static void check_descriptors(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int far = fcntl(0, F_DUPFD, 200);
        int near = fcntl(0, F_DUPFD, 9);
        close_all_but(9);
        _exit(near == 9 && fcntl(9, F_GETFD) >= 0 && fcntl(far, F_GETFD) < 0 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}


int main(void) {
    check_plans();
    check_json_escape();
    check_numbers();
    check_channel();
    check_descriptors();
    printf("%zu checks passed\n", checks);
    return 0;
}
