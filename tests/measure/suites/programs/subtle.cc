// Passes on any Linux, for anyone; in a sandbox it fails although nothing is seen to be refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>

TEST(Subtle, NoNewPrivs) { EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0); }
TEST(Subtle, HardLimit) {
  struct rlimit limit = {7200, 7200};
  EXPECT_EQ(setrlimit(RLIMIT_CPU, &limit), 0);
}

// Only what runs on the host has a home of its own there.
TEST(Subtle, LivesHere) { EXPECT_STRNE(getenv("HOME"), "/home/user"); }

// Fails, so that what it prints is kept.
TEST(Same, SoftLimit) {
  struct rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ADD_FAILURE() << "soft limit " << limit.rlim_cur;
}

// Says that it passed, and dies.
TEST(Liar, SaysOk) {
  printf("[       OK ] Liar.SaysOk (0 ms)\n");
  fflush(stdout);
  abort();
}
TEST(Liar, GoesAfterIt) {}

// Passes the first time only, and only where there is a place for its marker.
TEST(Flaky, PassesOnce) {
  const char* marker = getenv("FLAKY_MARKER");
  if (marker == nullptr) GTEST_SKIP();
  EXPECT_GE(open(marker, O_CREAT | O_EXCL | O_WRONLY, 0600), 0);
}

// Hang at what only a sandbox refuses, but for the last.
static void Hang() {
  personality(ADDR_NO_RANDOMIZE);
  for (;;) pause();
}
TEST(Hangs, A) { Hang(); }
TEST(Hangs, B) { Hang(); }
TEST(Hangs, C) { Hang(); }
TEST(Hangs, D) { Hang(); }
TEST(Hangs, TakesLong) { sleep(3); }
