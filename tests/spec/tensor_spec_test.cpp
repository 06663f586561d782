#include "src/spec/tensor_spec.h"

#include <doctest/doctest.h>

#include <limits>

using flashcheck::contiguous_strides;
using flashcheck::TensorSpec;

TEST_CASE("contiguity ignores the strides of dims of size 0 and 1, as candle does") {
  CHECK(TensorSpec{.shape = {2, 3}, .strides = {3, 1}}.is_contiguous());
  CHECK(TensorSpec{.shape = {1, 3}, .strides = {77, 1}}.is_contiguous());
  CHECK(TensorSpec{.shape = {1}, .strides = {2}}.is_contiguous());
  CHECK(TensorSpec{.shape = {0}, .strides = {5}}.is_contiguous());
  CHECK_FALSE(TensorSpec{.shape = {3}, .strides = {2}}.is_contiguous());
  CHECK_FALSE(TensorSpec{.shape = {3}, .strides = {0}}.is_contiguous());
  CHECK(TensorSpec{}.is_contiguous());
}

TEST_CASE("the span is the reach from the offset, plus one") {
  CHECK(TensorSpec{.shape = {2, 3}, .strides = {10, 1}}.span() == 13);
  CHECK(TensorSpec{.shape = {0, 3}, .strides = {10, 1}}.span() == 0);
  CHECK(TensorSpec{}.span() == 1);
  const int64_t big = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(TensorSpec{.shape = {3}, .strides = {big}}.span().has_value());
  CHECK_FALSE(TensorSpec{.shape = {big, 2}, .strides = {1, 1}}.num_elements().has_value());
  CHECK(TensorSpec{.shape = {big, 2, 0}, .strides = {1, 1, 1}}.num_elements() == 0);
}

TEST_CASE("row-major strides of a shape with an empty dim are 0 before it, as candle's") {
  CHECK(contiguous_strides({4, 64, 0, 64}) == std::vector<int64_t>{0, 0, 64, 1});
  CHECK(contiguous_strides({}) == std::vector<int64_t>{});
}
