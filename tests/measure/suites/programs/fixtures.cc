// Fixtures of whole suites that fail, before and after their cases.
#include <gtest/gtest.h>

class SetsUp : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(0, 1) << "no ground to stand on"; }
};
TEST_F(SetsUp, First) {}
TEST_F(SetsUp, Second) {}

class TearsDown : public testing::Test {
 protected:
  static void TearDownTestSuite() { ADD_FAILURE() << "something was left"; }
};
TEST_F(TearsDown, Only) {}

class Dies : public testing::Test {
 protected:
  static void SetUpTestSuite() { abort(); }
};
TEST_F(Dies, First) {}
TEST_F(Dies, Second) {}

TEST(Others, Pass) {}
