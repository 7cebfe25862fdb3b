// Every kind of case: passing, failing, skipped, disabled, with values, with types.
#include <gtest/gtest.h>

#include <string>

TEST(Plain, Passes) { SUCCEED(); }

TEST(Plain, Fails) {
  EXPECT_EQ(1 + 1, 3) << "sums";
  EXPECT_TRUE(false);
}

TEST(Plain, Skips) { GTEST_SKIP() << "no such device"; }

TEST(Plain, DISABLED_Waits) { FAIL(); }

class Values : public testing::TestWithParam<int> {};
TEST_P(Values, AreSmall) { EXPECT_LT(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Few, Values, testing::Range(0, 3));

class Texts : public testing::TestWithParam<std::string> {};
TEST_P(Texts, AreTold) { EXPECT_NE(GetParam(), "two\nlines"); }
INSTANTIATE_TEST_SUITE_P(Named, Texts, testing::Values("one", "two\nlines", "a: b, where c = d (9 ms)"),
                         [](const testing::TestParamInfo<std::string>& info) { return "Text" + std::to_string(info.index); });

template <typename T>
class Widths : public testing::Test {};
using Both = testing::Types<char, long>;
TYPED_TEST_SUITE(Widths, Both);
TYPED_TEST(Widths, AreWide) { EXPECT_GT(sizeof(TypeParam), 1u); }

class DISABLED_Whole : public testing::Test {};
TEST_F(DISABLED_Whole, Suite) { FAIL(); }
