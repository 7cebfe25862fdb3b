// A googletest program as suites have them: a few hundred cases that talk to the kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

class Kernel : public testing::TestWithParam<int> {};

TEST_P(Kernel, WritesFiles) {
  std::string path = "file-" + std::to_string(GetParam());
  for (int i = 0; i < 2; i++) {
    int fd = open(path.c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(fd, 0);
    for (int j = 0; j < 50; j++) EXPECT_EQ(write(fd, "0123456789", 10), 10);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(unlink(path.c_str()), 0);
  }
}
TEST_P(Kernel, TalksThroughSockets) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  char byte = 'x';
  for (int i = 0; i < 1000; i++) {
    EXPECT_EQ(write(ends[0], &byte, 1), 1);
    EXPECT_EQ(read(ends[1], &byte, 1), 1);
  }
  close(ends[0]);
  close(ends[1]);
}
TEST_P(Kernel, StartsProcesses) {
  for (int i = 0; i < 5; i++) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}
TEST_P(Kernel, MapsMemory) {
  for (int i = 0; i < 50; i++) {
    void* at = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    *static_cast<char*>(at) = 1;
    EXPECT_EQ(munmap(at, 1 << 16), 0);
  }
}
TEST_P(Kernel, Waits) { usleep(5000); }
INSTANTIATE_TEST_SUITE_P(Many, Kernel, testing::Range(0, 60));
