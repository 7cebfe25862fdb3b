// Passes on any Linux, for anyone; in a sandbox some of it is refused, and some of it must not be.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

static bool TracesChild() {
  pid_t child = fork();
  if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Walls, Trace) { EXPECT_TRUE(TracesChild()); }
TEST(Walls, TraceAgain) { EXPECT_TRUE(TracesChild()); }
TEST(Walls, HostFile) {
  int fd = open("/etc/debian_version", O_RDONLY);
  if (fd < 0) fd = open("/etc/login.defs", O_RDONLY);
  EXPECT_GE(fd, 0);
}
TEST(Walls, SkipsWithoutTracing) {
  if (!TracesChild()) GTEST_SKIP() << "tracing is not to be had";
}

// Behind a wall this fails after another case, and passes by itself.
static bool went_before = false;
TEST(Unsteady, GoesBefore) { went_before = true; }
TEST(Unsteady, FailsAfterIt) { EXPECT_TRUE(!went_before || TracesChild()); }

TEST(Room, ScratchDirectoryIsWritable) {
  const char* scratch = getenv("TEST_TMPDIR");
  ASSERT_NE(scratch, nullptr);
  std::string path = std::string(scratch) + "/file";
  int fd = open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  ASSERT_GE(fd, 0) << strerror(errno);
  EXPECT_EQ(write(fd, "x", 1), 1);
}
TEST(Room, WorkingDirectoryIsWritable) { EXPECT_EQ(mkdir("made", 0700), 0); }
TEST(Room, TmpIsWritable) {
  char path[] = "/tmp/walls-XXXXXX";
  int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  unlink(path);
}
TEST(Room, ThereAreTerminals) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(master, 0);
  EXPECT_EQ(grantpt(master), 0);
  EXPECT_EQ(unlockpt(master), 0);
}
TEST(Room, NobodyWasHereBefore) { EXPECT_NE(access("made-before", F_OK), 0); }
