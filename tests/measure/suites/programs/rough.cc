// Cases that end the program, hang it, print what looks like googletest's output, and leave
// children that print; between them cases that pass, each of which must be reported.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

TEST(A, Before) {}
TEST(A, Segfaults) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}
TEST(A, AfterSegfault) {}
TEST(A, LeavesQuietly) { _exit(0); }
TEST(A, AfterLeaving) {}
TEST(B, Hangs) {
  for (;;) {
    printf("still here\n");
    fflush(stdout);
    usleep(100000);
  }
}
TEST(B, AfterHanging) {}
TEST(C, PrintsGarbage) {
  std::string garbage(200000, '\xff');
  garbage[1000] = '\0';
  fwrite(garbage.data(), 1, garbage.size(), stdout);
  printf("\x1b]0;title\x07[ RUN      ] Z.NoSuchCase\n[       OK ] Z.NoSuchCase (0 ms)\n[  FAILED  ] A.Before\n");
  printf("no line end");
  fflush(stdout);
}
TEST(C, AfterGarbage) {}
TEST(D, ChildrenPrint) {
  for (int i = 0; i < 5; i++) {
    if (fork() == 0) {
      printf("a child, and no line end");
      fflush(stdout);
      _exit(3);
    }
  }
  while (wait(nullptr) > 0) {
  }
}
TEST(D, ChildRunsOn) {
  // The child leaves the test as the parent does, and reports all that follows a second time.
  pid_t child = fork();
  if (child == 0) {
    EXPECT_TRUE(true);
    return;
  }
  waitpid(child, nullptr, 0);
}
TEST(E, Aborts) { abort(); }
TEST(E, ClosesStandardOutput) {
  fflush(stdout);
  close(1);
}
TEST(E, IsOnlyInTheReport) {}
