// More cases than one argument could name, with one in the middle that ends the program.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

constexpr int kCases = 3000;

class AVeryLongNameSoThatManyOfThemFitIntoNoSingleArgument : public testing::TestWithParam<int> {};
TEST_P(AVeryLongNameSoThatManyOfThemFitIntoNoSingleArgument, AndItsCaseIsNotShortEither) {
  if (GetParam() == kCases / 2) abort();
}
INSTANTIATE_TEST_SUITE_P(EveryOne, AVeryLongNameSoThatManyOfThemFitIntoNoSingleArgument,
                         testing::Range(0, kCases));
