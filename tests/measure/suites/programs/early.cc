// Dies before main.
#include <gtest/gtest.h>
#include <stdlib.h>

static const int nothing = (abort(), 0);

TEST(Never, Runs) { EXPECT_EQ(nothing, 0); }
