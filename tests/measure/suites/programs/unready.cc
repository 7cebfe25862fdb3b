// Lists its cases, and then never gets to run one.
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

class Unready : public testing::Environment {
 public:
  void SetUp() override {
    fprintf(stderr, "no such server\n");
    exit(7);
  }
};
static testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Unready);

class Several : public testing::TestWithParam<int> {};
TEST_P(Several, Cases) {}
INSTANTIATE_TEST_SUITE_P(All, Several, testing::Range(0, 40));
