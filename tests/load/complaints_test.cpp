#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/load/complaint_lines.h"

using flashcheck::complaints_of;
using flashcheck::document_with;

namespace {

struct Broken {
  const char* from;
  const char* to;
  std::vector<std::string> complaints;
};

void check(const std::vector<Broken>& rows) {
  for (const Broken& row : rows) {
    CAPTURE(row.to);
    CHECK(complaints_of(document_with(row.from, row.to)) == row.complaints);
  }
}

}  // namespace

TEST_CASE("the document that the tables break is whole") {
  CHECK(complaints_of(document_with("1", "1")) == std::vector<std::string>{});
}

TEST_CASE("what is not JSON is told with line, place, what was expected and what came") {
  check({
      {"0.125",
       "NaN",
       {"14: FC-C003: /args/softmax_scale: expected a value (JSON has no such number: write "
        "\"nan\", \"inf\" or \"-inf\", in quotes), got \"NaN\""}},
      {"0.125",
       "-Infinity",
       {"14: FC-C003: /args/softmax_scale: expected a value (JSON has no such number: write "
        "\"nan\", \"inf\" or \"-inf\", in quotes), got \"-Infinity\""}},
      {"0.125", ".5", {"14: FC-C003: /args/softmax_scale: expected a value, got \".5\""}},
      {"0.125", "01", {"14: FC-C003: /args/softmax_scale: expected a value, got \"01\""}},
      {"0.125",
       "1e400",
       {"14: FC-C012: /args/softmax_scale: expected a number of at most 1.7976931348623157e+308 in "
        "magnitude, got 1e400"}},
      {"0.125",
       "1e-400",
       {"14: FC-C012: /args/softmax_scale: expected 0 or a number of at least 5e-324 in magnitude, "
        "got 1e-400"}},
      {"0.125", "+1", {"14: FC-C003: /args/softmax_scale: expected a value, got \"+1\""}},
      {"0.125", "0x10", {"14: FC-C003: /args/softmax_scale: expected a value, got \"0x10\""}},
      {"0.125", "True", {"14: FC-C003: /args/softmax_scale: expected a value, got \"True\""}},
      {"\"page_block_size\": 32}",
       "\"page_block_size\": 32,}",
       {"14: FC-C003: /args: expected a key in double quotes, got \"}\""}},
      {"\"page_block_size\": 32}",
       "\"page_block_size\": 32",
       {"17: FC-C003: the document: expected ',' or '}', got the end of the text"}},
      {"[4, 2, 64]", "[4, 2, 64,]", {"7: FC-C003: /tensors/q/shape: expected a value, got \"]\""}},
      {"[4, 2, 64]", "[4 2 64]", {"7: FC-C003: /tensors/q/shape: expected ',' or ']', got \"2\""}},
      {"[4, 2, 64]", "[4, 2, 64", {"7: FC-C003: /tensors/q/shape: expected ',' or ']', got \"}\""}},
      {"\"q\": {", "\"q\" {", {"7: FC-C003: /tensors/q: expected ':' after the key, got \"{\""}},
      {"\"q\": {",
       "q: {",
       {"7: FC-C003: /tensors: expected a key in double quotes or '}', got \"q\""}},
      {"\"q\": {",
       "'q': {",
       {"7: FC-C003: /tensors: expected a key in double quotes or '}', got \"'q'\""}},
      {"{\n", "// a comment\n{\n", {"1: FC-C003: the document: expected a JSON value, got \"//\""}},
      {"  \"schema\"",
       "  /* note */ \"schema\"",
       {"2: FC-C003: the document: expected a key in double quotes or '}', got \"/*\""}},
      {"\"f16\"",
       "\"f\\q16\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string with valid escapes, got \"\\\"f\\\\q\""}},
      {"\"f16\"",
       "\"f\\u12\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string with valid escapes, got "
        "\"\\\"f\\\\u12\\\"\""}},
      {"\"f16\"",
       "\"f\\ud800\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string with valid escapes, got "
        "\"\\\"f\\\\ud800\\\"\""}},
      {"\"f16\"",
       "\"f\n16\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string without control characters, which are "
        "escaped (\\n), got \"\\\"f\\n\""}},
      {"\"f16\"",
       "\"f\t16\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string without control characters, which are "
        "escaped (\\n), got \"\\\"f\\u0009\""}},
      {"\"f16\"",
       "\"f\37716\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string in UTF-8, got \"\\\"f\\xff\""}},
      {"\"f16\"",
       "\"f\303\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string in UTF-8, got \"\\\"f\\xc3\\\"\""}},
      {"\"f16\"",
       "\"f\355\240\200\"",
       {"7: FC-C003: /tensors/q/dtype: expected a string in UTF-8, got \"\\\"f\\xed\\xa0\""}},
      {"}\n}\n",
       "}\n} x\n",
       {"16: FC-C003: the document: expected the end of the text, got \"x\""}},
      {"}\n}\n", "}\n}}\n", {"16: FC-C003: the document: expected the end of the text, got \"}\""}},
      {"}\n}\n",
       "}\n}\n{}",
       {"17: FC-C003: the document: expected the end of the text, got \"{\""}},
      {"}\n}\n",
       "}\n",
       {"16: FC-C003: the document: expected ',' or '}', got the end of the text"}},
      {"\"verdict\": \"ok\"}\n}\n",
       "\"verdict\": \"o",
       {"15: FC-C003: /expect/verdict: expected a string with a closing quote, got \"\\\"o\""}},
      {"\"verdict\": \"ok\"}\n}\n",
       "\"verdict\"",
       {"15: FC-C003: /expect/verdict: expected ':' after the key, got the end of the text"}},
      {"\"verdict\": \"ok\"}\n}\n",
       "\"verdict\": ",
       {"15: FC-C003: /expect/verdict: expected a value, got the end of the text"}},
  });
}

TEST_CASE("keys are known, single and there") {
  check({
      {"\"shape\": [4, 2, 64]",
       "\"shpae\": [4, 2, 64]",
       {"7: FC-C007: /tensors/q/shpae: expected one of dtype, shape, strides, offset, device, "
        "storage, values, fill, file, tensor, axes, layout, from, got \"shpae\"; the nearest is "
        "\"shape\"",
        "7: FC-C008: /tensors/q: expected the key \"shape\", got an object without it"}},
      {"\"schema\": 1",
       "\"schmea\": 1",
       {"2: FC-C007: /schmea: expected one of schema, id, note, refs, wrapper, function, storages, "
        "tensors, args, expect, arithmetic, seed, tests, got \"schmea\"; the nearest is \"schema\"",
        "1: FC-C008: the document: expected the key \"schema\", got an object without it"}},
      {"\"schema\": 1",
       "\"schema\": 1, \"schema\": 1",
       {"2: FC-C006: /schema: expected each key once, got \"schema\" again"}},
      {"\"dtype\": \"u32\", \"shape\": [1, 2]",
       "\"dtype\": \"u32\", \"dtype\": \"u32\", \"shape\": [1, 2], \"shape\": [1]",
       {"12: FC-C006: /tensors/block_table/dtype: expected each key once, got \"dtype\" again",
        "12: FC-C006: /tensors/block_table/shape: expected each key once, got \"shape\" again"}},
      {"\"q\": {",
       "\"query\": {",
       {"7: FC-C007: /tensors/query: expected one of q, k, v, seqlens_q, seqlens_k, block_table, "
        "mm_prefix_ranges, alibi_slopes, out, lse, got \"query\"; the nearest is \"seqlens_q\"",
        "6: FC-C017: /tensors/q: expected a tensor, which flash_attn_varlen_paged_windowed "
        "requires, got nothing"}},
      {"\"softmax_scale\"",
       "\"softmax-scale\"",
       {"14: FC-C007: /args/softmax-scale: expected one of softmax_scale, causal, "
        "window_size_left, window_size_right, max_seqlen_q, max_seqlen_k, page_block_size, "
        "softcap, use_gqa_packing, got \"softmax-scale\"; the nearest is \"softmax_scale\"",
        "14: FC-C017: /args/softmax_scale: expected an argument, which "
        "flash_attn_varlen_paged_windowed requires, got nothing"}},
      {"\"elements\": 32768",
       "\"size\": 32768",
       {"5: FC-C007: /storages/pool/size: expected one of elements, got \"size\"; the nearest is "
        "\"elements\"",
        "5: FC-C008: /storages/pool: expected the key \"elements\", got an object without it"}},
      {"\"verdict\": \"ok\"",
       "\"verdcit\": \"ok\"",
       {"15: FC-C007: /expect/verdcit: expected one of verdict, error, panic, hazards, launch, "
        "cause, got \"verdcit\"; the nearest is \"verdict\""}},
      {"\"verdict\": \"ok\"",
       "\"launch\": {\"k_row_strid\": 64}",
       {"15: FC-C007: /expect/launch/k_row_strid: expected one of 42 known names, got "
        "\"k_row_strid\"; the nearest is \"k_row_stride\""}},
      {"\"wrapper\": \"candle-flash-attn\",\n",
       "",
       {"1: FC-C008: the document: expected the key \"wrapper\", got an object without it"}},
      {"\"schema\": 1", "\"schema\": 2", {"2: FC-C014: /schema: expected 1, got 2"}},
      {"\"schema\": 1", "\"schema\": \"1\"", {"2: FC-C014: /schema: expected 1, got \"1\""}},
      {"\"schema\": 1",
       "\"schema\": 1, \"a/b~c\": 1",
       {"2: FC-C007: /a~1b~0c: expected one of schema, id, note, refs, wrapper, function, "
        "storages, tensors, args, expect, arithmetic, seed, tests, got \"a/b~c\"; the nearest is "
        "\"args\""}},
      {"\"schema\": 1",
       "\"schema\": 1, \"\316\251\\u0000\": 1",
       {"2: FC-C007: /\316\251\\u0000: expected one of schema, id, note, refs, wrapper, function, "
        "storages, tensors, args, expect, arithmetic, seed, tests, got \"\316\251\\u0000\"; the "
        "nearest is \"schema\""}},
      {"\"expect\"",
       "\"arithmetic\": {\"acumulate\": \"f16\"},\n  \"expect\"",
       {"15: FC-C007: /arithmetic/acumulate: expected one of accumulate, p, tanh, got "
        "\"acumulate\"; the "
        "nearest is \"accumulate\""}},
  });
}

TEST_CASE("nothing is converted") {
  check({
      {"[4, 2, 64]",
       "[4, 2.7, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "2.7"}},
      {"[4, 2, 64]",
       "[4, 1e3, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "1e3"}},
      {"[4, 2, 64]",
       "[4, 2.0, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "2.0"}},
      {"[4, 2, 64]",
       "[4, -1, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "-1"}},
      {"[4, 2, 64]",
       "[4, -0, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "-0"}},
      {"[4, 2, 64]",
       "[4, 9223372036854775808, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "9223372036854775808"}},
      {"[4, 2, 64]",
       "[4, 99999999999999999999, 64]",
       {"7: FC-C011: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "99999999999999999999"}},
      {"[4, 2, 64]",
       "[4, \"2\", 64]",
       {"7: FC-C009: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "\"2\""}},
      {"[4, 2, 64]",
       "[4, null, true]",
       {"7: FC-C009: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got "
        "null",
        "7: FC-C009: /tensors/q/shape/2: expected an integer from 0 to 9223372036854775807, got "
        "true"}},
      {"[4, 2, 64]",
       "[4, [2], {}]",
       {"7: FC-C009: /tensors/q/shape/1: expected an integer from 0 to 9223372036854775807, got an "
        "array of 1",
        "7: FC-C009: /tensors/q/shape/2: expected an integer from 0 to 9223372036854775807, got an "
        "object"}},
      {"[4, 2, 64]",
       "\"4,2,64\"",
       {"7: FC-C009: /tensors/q/shape: expected an array, got \"4,2,64\""}},
      {"\"offset\": 4096",
       "\"offset\": -4096",
       {"9: FC-C011: /tensors/v/offset: expected an integer from 0 to 9223372036854775807, got "
        "-4096"}},
      {"0.125",
       "\"0.125\"",
       {"14: FC-C009: /args/softmax_scale: expected a number, \"inf\", \"-inf\" or \"nan\", got "
        "\"0.125\""}},
      {"0.125",
       "true",
       {"14: FC-C009: /args/softmax_scale: expected a number, \"inf\", \"-inf\" or \"nan\", got "
        "true"}},
      {"0.125",
       "1e39",
       {"14: FC-C012: /args/softmax_scale: expected 0 or a number from 1.4e-45 to 3.4028235e38 in "
        "magnitude, got 1e39"}},
      {"0.125",
       "1e-46",
       {"14: FC-C012: /args/softmax_scale: expected 0 or a number from 1.4e-45 to 3.4028235e38 in "
        "magnitude, got 1e-46"}},
      {"\"max_seqlen_q\": 4",
       "\"max_seqlen_q\": 4.0",
       {"14: FC-C011: /args/max_seqlen_q: expected an integer from 0 to 9223372036854775807, got "
        "4.0"}},
      {"\"storages\": {\"pool\": {\"elements\": 32768}}",
       "\"storages\": []",
       {"5: FC-C009: /storages: expected an object, got an array of 0",
        "8: FC-C023: /tensors/k/storage: expected an entry of `storages`, which has none, got "
        "\"pool\"",
        "9: FC-C023: /tensors/v/storage: expected an entry of `storages`, which has none, got "
        "\"pool\""}},
      {"\"storages\": {\"pool\": {\"elements\": 32768}}",
       "\"storages\": {\"pool\": 32768}",
       {"5: FC-C009: /storages/pool: expected an object, got 32768",
        "8: FC-C023: /tensors/k/storage: expected an entry of `storages`, which has none, got "
        "\"pool\"",
        "9: FC-C023: /tensors/v/storage: expected an entry of `storages`, which has none, got "
        "\"pool\""}},
      {"\"elements\": 32768",
       "\"elements\": -1",
       {"5: FC-C011: /storages/pool/elements: expected an integer from 0 to 9223372036854775807, "
        "got -1"}},
      {"\"expect\"",
       "\"seed\": -1, \"note\": 1, \"refs\": \"x\", \"id\": 7,\n  \"expect\"",
       {"15: FC-C009: /id: expected a string, got 7",
        "15: FC-C011: /seed: expected an integer from 0 to 18446744073709551615, got -1",
        "15: FC-C009: /note: expected a string, got 1",
        "15: FC-C009: /refs: expected an array, got \"x\""}},
      {"\"expect\"",
       "\"seed\": 1.5, \"refs\": [1], \"arithmetic\": \"f16\",\n  \"expect\"",
       {"15: FC-C009: /arithmetic: expected an object, got \"f16\"",
        "15: FC-C011: /seed: expected an integer from 0 to 18446744073709551615, got 1.5",
        "15: FC-C009: /refs/0: expected a string, got 1"}},
      {"\"storage\": \"pool\", \"offset\"",
       "\"storage\": true, \"offset\"",
       {"9: FC-C009: /tensors/v/storage: expected the name of an entry of `storages`, or a number "
        "of elements, got true"}},
      {"\"storage\": \"pool\", \"offset\"",
       "\"storage\": 1.5, \"offset\"",
       {"9: FC-C011: /tensors/v/storage: expected an integer from 0 to 9223372036854775807, got "
        "1.5"}},
      {"{\"verdict\": \"ok\"}", "\"ok\"", {"15: FC-C009: /expect: expected an object, got \"ok\""}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": true, \"error\": 1, \"hazards\": \"FC-H001\", \"launch\": [], \"cause\": 3",
       {"15: FC-C009: /expect/verdict: expected a string, got true",
        "15: FC-C009: /expect/error: expected a string, got 1",
        "15: FC-C009: /expect/hazards: expected an array, got \"FC-H001\"",
        "15: FC-C009: /expect/launch: expected an object, got an array of 0",
        "15: FC-C010: /expect/cause: expected a code FC-Mnnn, got 3"}},
      {"\"verdict\": \"ok\"",
       "\"launch\": {\"b\": 1.5, \"has_alibi\": 1, \"q_offset_bytes\": null, \"softcap\": \"x\", "
       "\"block_table_offset_bytes\": false}",
       {"15: FC-C011: /expect/launch/b: expected an integer from -9223372036854775808 to "
        "9223372036854775807, got 1.5",
        "15: FC-C009: /expect/launch/has_alibi: expected true or false, got 1",
        "15: FC-C009: /expect/launch/q_offset_bytes: expected an integer from -9223372036854775808 "
        "to 9223372036854775807, got null",
        "15: FC-C009: /expect/launch/softcap: expected a number, \"inf\", \"-inf\" or \"nan\", got "
        "\"x\"",
        "15: FC-C009: /expect/launch/block_table_offset_bytes: expected an integer from "
        "-9223372036854775808 to 9223372036854775807, got false"}},
  });
}

TEST_CASE("words come from closed sets") {
  check({
      {"\"dtype\": \"f16\"",
       "\"dtype\": \"fp16\"",
       {"7: FC-C013: /tensors/q/dtype: expected one of u8, u32, i16, i32, i64, bf16, f16, f32, "
        "f64, f8e4m3, got \"fp16\"; the nearest is \"f16\""}},
      {"\"dtype\": \"f16\"",
       "\"dtype\": \"F16\"",
       {"7: FC-C013: /tensors/q/dtype: expected one of u8, u32, i16, i32, i64, bf16, f16, f32, "
        "f64, f8e4m3, got \"F16\"; the nearest is \"f16\""}},
      {"\"candle-flash-attn\"",
       "\"candle\"",
       {"3: FC-C013: /wrapper: expected one of candle-flash-attn, candle-flash-attn-v3, none, got "
        "\"candle\"; the nearest is \"candle-flash-attn\""}},
      {"\"candle-flash-attn\"",
       "\"flash-attn\"",
       {"3: FC-C013: /wrapper: expected one of candle-flash-attn, candle-flash-attn-v3, none, got "
        "\"flash-attn\"; the nearest is \"candle-flash-attn\""}},
      {"\"flash_attn_varlen_paged_windowed\"",
       "\"flash_attn_varlen_paged\"",
       {"4: FC-C015: /function: expected one of flash_attn, flash_attn_windowed, flash_attn_alibi, "
        "flash_attn_alibi_windowed, flash_attn_alibi_windowed_softcap, flash_attn_varlen, "
        "flash_attn_varlen_windowed, flash_attn_varlen_paged_windowed, flash_attn_varlen_alibi, "
        "flash_attn_varlen_alibi_windowed, flash_attn_varlen_alibi_windowed_softcap, got "
        "\"flash_attn_varlen_paged\"; the nearest is \"flash_attn_varlen_alibi\""}},
      {"\"candle-flash-attn\"",
       "\"candle-flash-attn-v3\"",
       {"4: FC-C015: /function: expected one of flash_attn, flash_attn_windowed, flash_attn_alibi, "
        "flash_attn_alibi_windowed, flash_attn_varlen, flash_attn_varlen_windowed, "
        "flash_attn_varlen_alibi, flash_attn_varlen_alibi_windowed, got "
        "\"flash_attn_varlen_paged_windowed\"; the nearest is "
        "\"flash_attn_varlen_alibi_windowed\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"device\": \"gpu:0\"",
       {"7: FC-C010: /tensors/q/device: expected a device: cpu, cuda:N or metal:N, got \"gpu:0\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"device\": \"cuda\"",
       {"7: FC-C010: /tensors/q/device: expected a device: cpu, cuda:N or metal:N, got \"cuda\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"axes\": [\"token\", \"heads\", \"dim\"]",
       {"7: FC-C013: /tensors/q/axes/1: expected one of batch, sequence, token, page, head, dim, "
        "entry, range, bound, got \"heads\"; the nearest is \"head\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"axes\": [\"token\", \"head\"]",
       {"7: FC-C020: /tensors/q/axes: expected 3 axes for the shape [4, 2, 64], got 2"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"axes\": [\"token\", \"token\", \"dim\"]",
       {"7: FC-C022: /tensors/q/axes/1: expected each axis once, got \"token\" again"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"pass\"",
       {"15: FC-C013: /expect/verdict: expected one of ok, error, panic, hazard, mismatch, "
        "mistrusted, skipped, invalid, got \"pass\"; the nearest is \"panic\""}},
      {"\"verdict\": \"ok\"",
       "\"hazards\": [\"FC-E001\"]",
       {"15: FC-C010: /expect/hazards/0: expected a code FC-Hnnn, got \"FC-E001\""}},
      {"\"verdict\": \"ok\"",
       "\"hazards\": [\"FC-H001\", \"FC-H001\"]",
       {"15: FC-C022: /expect/hazards/1: expected each code once, got \"FC-H001\" again"}},
      {"\"verdict\": \"ok\"",
       "\"cause\": \"FC-M1\"",
       {"15: FC-C010: /expect/cause: expected a code FC-Mnnn, got \"FC-M1\""}},
      {"\"expect\"",
       "\"arithmetic\": {\"accumulate\": \"bf16\", \"p\": \"f16\"},\n  \"expect\"",
       {"15: FC-C013: /arithmetic/accumulate: expected one of f32, f16, got \"bf16\"; the nearest "
        "is \"f16\"",
        "15: FC-C013: /arithmetic/p: expected one of input, f32, got \"f16\"; the nearest is "
        "\"f32\""}},
      {"\"expect\"",
       "\"id\": \"two words\",\n  \"expect\"",
       {"15: FC-C024: /id: expected a name of 1 to 200 characters A-Z a-z 0-9 . _ -, got \"two "
        "words\""}},
      {"\"expect\"",
       "\"id\": \"\",\n  \"expect\"",
       {"15: FC-C024: /id: expected a name of 1 to 200 characters A-Z a-z 0-9 . _ -, got \"\""}},
      {"\"storage\": \"pool\", \"offset\"",
       "\"storage\": \"pol\", \"offset\"",
       {"9: FC-C023: /tensors/v/storage: expected an entry of `storages` (pool), got \"pol\""}},
  });
}

TEST_CASE("a function gets what its signature has") {
  check({
      {"\"flash_attn_varlen_paged_windowed\"",
       "\"flash_attn\"",
       {"10: FC-C016: /tensors/seqlens_q: expected a tensor that flash_attn takes (q, k, v, out, "
        "lse), got \"seqlens_q\"",
        "11: FC-C016: /tensors/seqlens_k: expected a tensor that flash_attn takes (q, k, v, out, "
        "lse), got \"seqlens_k\"",
        "12: FC-C016: /tensors/block_table: expected a tensor that flash_attn takes (q, k, v, out, "
        "lse), got \"block_table\"",
        "14: FC-C017: /args/causal: expected an argument, which flash_attn requires, got nothing",
        "14: FC-C016: /args/max_seqlen_q: expected an argument that flash_attn takes "
        "(softmax_scale, causal), got \"max_seqlen_q\"",
        "14: FC-C016: /args/max_seqlen_k: expected an argument that flash_attn takes "
        "(softmax_scale, causal), got \"max_seqlen_k\"",
        "14: FC-C016: /args/page_block_size: expected an argument that flash_attn takes "
        "(softmax_scale, causal), got \"page_block_size\""}},
      {"\"flash_attn_varlen_paged_windowed\"",
       "\"flash_attn_varlen_alibi_windowed_softcap\"",
       {"12: FC-C016: /tensors/block_table: expected a tensor that "
        "flash_attn_varlen_alibi_windowed_softcap takes (q, k, v, seqlens_q, seqlens_k, "
        "alibi_slopes, out, lse), got \"block_table\"",
        "14: FC-C016: /args/page_block_size: expected an argument that "
        "flash_attn_varlen_alibi_windowed_softcap takes (softmax_scale, window_size_left, "
        "window_size_right, max_seqlen_q, max_seqlen_k, softcap), got \"page_block_size\"",
        "14: FC-C017: /args/softcap: expected an argument, which "
        "flash_attn_varlen_alibi_windowed_softcap requires, got nothing"}},
      {"\"page_block_size\": 32",
       "\"page_block_size\": 32, \"causal\": true",
       {"14: FC-C016: /args/causal: expected an argument that flash_attn_varlen_paged_windowed "
        "takes (softmax_scale, window_size_left, window_size_right, max_seqlen_q, max_seqlen_k, "
        "page_block_size, softcap), got \"causal\""}},
      {"\"page_block_size\": 32",
       "\"page_block_size\": null",
       {"14: FC-C017: /args/page_block_size: expected an argument, which "
        "flash_attn_varlen_paged_windowed requires, got null"}},
      {", \"page_block_size\": 32",
       "",
       {"14: FC-C017: /args/page_block_size: expected an argument, which "
        "flash_attn_varlen_paged_windowed requires, got nothing"}},
      {"\"block_table\": {",
       "\"alibi_slopes\": null, \"block_table\": {",
       {"12: FC-C016: /tensors/alibi_slopes: expected a tensor that "
        "flash_attn_varlen_paged_windowed takes (q, k, v, seqlens_q, seqlens_k, block_table, "
        "mm_prefix_ranges, out, lse), got \"alibi_slopes\""}},
      {"    \"seqlens_q\": {\"dtype\": \"u32\", \"shape\": [2], \"values\": [0, 4]},\n",
       "",
       {"6: FC-C017: /tensors/seqlens_q: expected a tensor, which flash_attn_varlen_paged_windowed "
        "requires, got nothing"}},
      {"\"q\": {\"dtype\": \"f16\", \"shape\": [4, 2, 64]}",
       "\"q\": null",
       {"7: FC-C017: /tensors/q: expected a tensor, which flash_attn_varlen_paged_windowed "
        "requires, got null"}},
  });
}

TEST_CASE("a tensor could be one of candle's") {
  check({
      {"\"strides\": [8192, 128, 64, 1], \"storage\": \"pool\"}",
       "\"strides\": [128, 64, 1], \"storage\": \"pool\"}",
       {"8: FC-C018: /tensors/k/strides: expected 4 strides for the shape [4, 32, 2, 64], got 3"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"strides\": [1, 2, 3, 4]",
       {"7: FC-C018: /tensors/q/strides: expected 3 strides for the shape [4, 2, 64], got 4"}},
      {"[4, 2, 64]",
       "[4611686018427387904, 2, 64]",
       {"7: FC-C019: /tensors/q/shape: expected dims whose product is at most 9223372036854775807, "
        "got [4611686018427387904, 2, 64]"}},
      {"[4, 2, 64]",
       "[0, 4611686018427387904, 64]",
       {"7: FC-C019: /tensors/q/shape: expected dims whose product is at most 9223372036854775807, "
        "got [0, 4611686018427387904, 64]"}},
      {"\"offset\": 4096",
       "\"offset\": 9223372036854775807",
       {"9: FC-C019: /tensors/v: expected offset + sum of (dim - 1) * stride + 1 to be at most "
        "9223372036854775807 bytes, got offset 9223372036854775807, shape [4, 32, 2, 64], strides "
        "[8192, 128, 64, 1] in f16"}},
      {"\"strides\": [8192, 128, 64, 1], \"storage\": \"pool\"}",
       "\"strides\": [4611686018427387904, 128, 64, 1], \"storage\": \"pool\"}",
       {"8: FC-C019: /tensors/k: expected offset + sum of (dim - 1) * stride + 1 to be at most "
        "9223372036854775807 bytes, got offset 0, shape [4, 32, 2, 64], strides "
        "[4611686018427387904, 128, 64, 1] in f16"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"storage\": 9223372036854775807",
       {"7: FC-C019: /tensors/q/storage: expected a storage of at most 9223372036854775807 bytes, "
        "got 9223372036854775807 elements of f16"}},
      {"\"elements\": 32768",
       "\"elements\": 4611686018427387904",
       {"8: FC-C019: /tensors/k/storage: expected a storage of at most 9223372036854775807 bytes, "
        "got 4611686018427387904 elements of f16",
        "9: FC-C019: /tensors/v/storage: expected a storage of at most 9223372036854775807 bytes, "
        "got 4611686018427387904 elements of f16"}},
      {"[4, 2, 64]",
       "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
       {"7: FC-C005: /tensors/q/shape: expected at most 16 dims, got 17"}},
      {"\"pool\": {",
       "\"my pool\": {",
       {"5: FC-C024: /storages/my pool: expected a name of 1 to 200 characters A-Z a-z 0-9 . _ -, "
        "got \"my pool\"",
        "8: FC-C023: /tensors/k/storage: expected an entry of `storages`, which has none, got "
        "\"pool\"",
        "9: FC-C023: /tensors/v/storage: expected an entry of `storages`, which has none, got "
        "\"pool\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"values\": [], \"fill\": {\"generator\": \"normal\"}",
       {"7: FC-C022: /tensors/q: expected at most one of values, fill and file, got values and "
        "fill"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"tensor\": \"q\"",
       {"7: FC-C022: /tensors/q/tensor: expected no `tensor` without a `file`, got \"q\""}},
  });
}

TEST_CASE("elements are as many as the shape holds, each one that the dtype holds") {
  check({
      {"[0, 4]",
       "[0]",
       {"10: FC-C020: /tensors/seqlens_q/values: expected 2 values for the shape [2], got 1"}},
      {"[0, 4]",
       "[0, 4, 8]",
       {"10: FC-C020: /tensors/seqlens_q/values: expected 2 values for the shape [2], got 3"}},
      {"[0, 4]",
       "[[0, 4]]",
       {"10: FC-C020: /tensors/seqlens_q/values: expected an array of 2 for dim 0 of the shape "
        "[2], got an array of 1"}},
      {"[0, 4]", "0", {"10: FC-C009: /tensors/seqlens_q/values: expected an array, got 0"}},
      {"[0, 4]",
       "[0, -1]",
       {"10: FC-C011: /tensors/seqlens_q/values/1: expected an integer from 0 to 4294967295, got "
        "-1"}},
      {"[0, 4]",
       "[0, 4294967296]",
       {"10: FC-C011: /tensors/seqlens_q/values/1: expected an integer from 0 to 4294967295, got "
        "4294967296"}},
      {"[0, 4]",
       "[0, 4.0]",
       {"10: FC-C011: /tensors/seqlens_q/values/1: expected an integer from 0 to 4294967295, got "
        "4.0"}},
      {"[0, 4]",
       "[0, [4]]",
       {"10: FC-C009: /tensors/seqlens_q/values/1: expected an integer from 0 to 4294967295, got "
        "an array of 1"}},
      {"[0, 4]",
       "{\"0\": 4}",
       {"10: FC-C009: /tensors/seqlens_q/values: expected an array, got an object"}},
      {"[[3, 1]]",
       "[3, 1, 2]",
       {"12: FC-C020: /tensors/block_table/values: expected 2 values for the shape [1, 2], got 3"}},
      {"[[3, 1]]",
       "[[3, 1], [2, 0]]",
       {"12: FC-C020: /tensors/block_table/values: expected an array of 1 for dim 0 of the shape "
        "[1, 2], got an array of 2"}},
      {"[[3, 1]]",
       "[[3]]",
       {"12: FC-C020: /tensors/block_table/values/0: expected an array of 2 for dim 1 of the shape "
        "[1, 2], got an array of 1"}},
      {"[[3, 1]]",
       "[[3, [1]]]",
       {"12: FC-C009: /tensors/block_table/values/0/1: expected an integer from 0 to 4294967295, "
        "got an array of 1"}},
      {"[[3, 1]]",
       "[[3, \"inf\"]]",
       {"12: FC-C009: /tensors/block_table/values/0/1: expected an integer from 0 to 4294967295, "
        "got \"inf\""}},
      {"\"dtype\": \"u32\", \"shape\": [1, 2], \"values\": [[3, 1]]",
       "\"dtype\": \"u8\", \"shape\": [5], \"values\": [256, -1, 1e2, null, \"x\"]",
       {"12: FC-C011: /tensors/block_table/values/0: expected an integer from 0 to 255, got 256",
        "12: FC-C011: /tensors/block_table/values/1: expected an integer from 0 to 255, got -1",
        "12: FC-C011: /tensors/block_table/values/2: expected an integer from 0 to 255, got 1e2"}},
      {"\"dtype\": \"u32\", \"shape\": [1, 2], \"values\": [[3, 1]]",
       "\"dtype\": \"f16\", \"shape\": [2, 2], \"values\": [65519, 65520, \"infinity\", 1]",
       {"12: FC-C021: /tensors/block_table/values/1: expected a number that f16 holds, got 65520",
        "12: FC-C009: /tensors/block_table/values/2: expected a number, \"inf\", \"-inf\" or "
        "\"nan\", got \"infinity\""}},
      {"\"dtype\": \"u32\", \"shape\": [1, 2], \"values\": [[3, 1]]",
       "\"dtype\": \"f8e4m3\", \"shape\": [4], \"values\": [448, 465, \"inf\", \"nan\"]",
       {"12: FC-C021: /tensors/block_table/values/1: expected a number that f8e4m3 holds, got 465",
        "12: FC-C021: /tensors/block_table/values/2: expected a number that f8e4m3 holds, got "
        "\"inf\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": \"normal\"",
       {"7: FC-C009: /tensors/q/fill: expected an object, got \"normal\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {}",
       {"7: FC-C008: /tensors/q/fill: expected the key \"generator\", got an object without it"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"gauss\"}",
       {"7: FC-C013: /tensors/q/fill/generator: expected one of normal, uniform, constant, ramp, "
        "got \"gauss\"; the nearest is \"ramp\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"normal\", \"low\": 1}",
       {"7: FC-C007: /tensors/q/fill/low: expected one of generator, seed, mean, std, got \"low\"; "
        "the nearest is \"generator\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"normal\", \"std\": -1}",
       {"7: FC-C012: /tensors/q/fill/std: expected a number that is not negative, got -1"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"normal\", \"seed\": "
       "18446744073709551616}",
       {"7: FC-C011: /tensors/q/fill/seed: expected an integer from 0 to 18446744073709551615, got "
        "18446744073709551616"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"uniform\", \"low\": 2, \"high\": 1}",
       {"7: FC-C022: /tensors/q/fill: expected low <= high, got low 2 and high 1"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"uniform\", \"low\": \"nan\"}",
       {"7: FC-C012: /tensors/q/fill/low: expected a finite number, got \"nan\""}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"constant\"}",
       {"7: FC-C008: /tensors/q/fill: expected the key \"value\", got an object without it"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"ramp\", \"modulo\": -1, \"divide\": 0, "
       "\"order\": \"row-major\"}",
       {"7: FC-C011: /tensors/q/fill/modulo: expected an integer from 0 to 9223372036854775807, "
        "got -1",
        "7: FC-C013: /tensors/q/fill/order: expected one of logical, storage, got \"row-major\"; "
        "the nearest is \"logical\"",
        "7: FC-C012: /tensors/q/fill/divide: expected a number other than 0, got 0"}},
      {"\"shape\": [4, 2, 64]",
       "\"shape\": [4, 2, 64], \"fill\": {\"generator\": \"ramp\", \"divide\": 0}",
       {"7: FC-C012: /tensors/q/fill/divide: expected a number other than 0, got 0"}},
  });
}

TEST_CASE("demands do not contradict each other") {
  check({
      {"\"verdict\": \"ok\"",
       "\"error\": \"x\", \"panic\": \"y\"",
       {"15: FC-C022: /expect/panic: expected nothing that contradicts the verdict error, got "
        "`panic`, which needs panic"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"ok\", \"error\": \"x\"",
       {"15: FC-C022: /expect/error: expected nothing that contradicts the verdict ok, got "
        "`error`, which needs error"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"error\", \"panic\": \"y\"",
       {"15: FC-C022: /expect/panic: expected nothing that contradicts the verdict error, got "
        "`panic`, which needs panic"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"ok\", \"hazards\": [\"FC-H001\"]",
       {"15: FC-C022: /expect/hazards: expected nothing that contradicts the verdict ok, got "
        "`hazards`, which needs hazard"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"hazard\", \"hazards\": []",
       {"15: FC-C022: /expect/hazards: expected nothing that contradicts the verdict hazard, got "
        "`hazards`, which needs another"}},
      {"\"verdict\": \"ok\"",
       "\"error\": \"x\", \"hazards\": [\"FC-H001\"]",
       {"15: FC-C022: /expect/hazards: expected nothing that contradicts the verdict error, got "
        "`hazards`, which needs hazard"}},
      {"\"verdict\": \"ok\"",
       "\"error\": \"x\", \"launch\": {\"b\": 1}",
       {"15: FC-C022: /expect/launch: expected nothing that contradicts the verdict error, got "
        "`launch`, which needs another"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"ok\", \"cause\": \"FC-M001\"",
       {"15: FC-C022: /expect/cause: expected nothing that contradicts the verdict ok, got "
        "`cause`, which needs hazard or mismatch"}},
      {"\"verdict\": \"ok\"",
       "\"verdict\": \"mistrusted\", \"cause\": \"FC-M001\"",
       {"15: FC-C022: /expect/cause: expected nothing that contradicts the verdict mistrusted, got "
        "`cause`, which needs hazard or mismatch"}},
      {"{\"verdict\": \"ok\"}",
       "{}",
       {"15: FC-C008: /expect: expected at least one demand, got none"}},
      {"{\"verdict\": \"ok\"}",
       "{\"launch\": {}}",
       {"15: FC-C008: /expect: expected at least one demand, got none"}},
  });
}

TEST_CASE("tests change what there is, and a complaint names the test") {
  check({
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": []",
       {"15: FC-C030: /tests: expected at least one test, got none"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": {}",
       {"15: FC-C009: /tests: expected an array, got an object"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [7]",
       {"15: FC-C009: /tests/0: expected an object, got 7"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [{}]",
       {"15: FC-C008: /tests/0: expected the key \"id\", got an object without it",
        "15: FC-C008: /tests/0: expected the key \"change\", got an object without it"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [{\"id\": \"a\", \"change\": {\"tensors\": {\"k\": {\"shpae\": null}}}}]",
       {"15: FC-C007: /tests/0/change/tensors/k/shpae: expected one of dtype, shape, strides, "
        "offset, device, storage, values, fill, file, tensor, axes, layout, from, got \"shpae\"; "
        "the "
        "nearest is \"shape\""}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [{\"id\": \"a\", \"change\": {\"tensor\": {}}}]",
       {"15: FC-C007: /tests/0/change/tensor: expected one of wrapper, function, storages, "
        "tensors, args, arithmetic, seed, got \"tensor\"; the nearest is \"tensors\""}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [{\"id\": \"a/b\", \"change\": {}}]",
       {"15: FC-C024: /tests/0/id: expected a name of 1 to 200 characters A-Z a-z 0-9 . _ -, got "
        "\"a/b\""}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {}},\n    {\"id\": \"a\", \"change\": {}}]",
       {"17: FC-C025: /tests/1/id: expected an id of its own, got \"case/a\" again"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"function\": "
       "\"flash_attn_varlen_windowed\"}}]",
       {"12: FC-C016: /tensors/block_table: expected a tensor that flash_attn_varlen_windowed "
        "takes (q, k, v, seqlens_q, seqlens_k, out, lse), got \"block_table\"",
        "In the test \"a\", line 16.",
        "14: FC-C016: /args/page_block_size: expected an argument that flash_attn_varlen_windowed "
        "takes (softmax_scale, window_size_left, window_size_right, max_seqlen_q, max_seqlen_k), "
        "got \"page_block_size\"",
        "In the test \"a\", line 16."}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"tensors\": {\"seqlens_q\": {\"values\": "
       "[0, 2.5]}}}}]",
       {"16: FC-C011: /tests/0/change/tensors/seqlens_q/values/1: expected an integer from 0 to "
        "4294967295, got 2.5"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"tensors\": {\"k\": null}}}]",
       {"16: FC-C017: /tests/0/change/tensors/k: expected a tensor, which "
        "flash_attn_varlen_paged_windowed requires, got nothing"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"tensors\": null}}]",
       {"16: FC-C008: /tests/0/change: expected the key \"tensors\", got an object without it"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"storages\": {\"pool\": null}}}]",
       {"8: FC-C023: /tensors/k/storage: expected an entry of `storages`, which has none, got "
        "\"pool\"",
        "In the test \"a\", line 16.",
        "9: FC-C023: /tensors/v/storage: expected an entry of `storages`, which has none, got "
        "\"pool\"",
        "In the test \"a\", line 16."}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [\n    {\"id\": \"a\", \"change\": {\"tensors\": {\"seqlens_q\": {\"fill\": "
       "{\"generator\": \"ramp\"}}}}}]",
       {"16: FC-C022: /tests/0/change/tensors/seqlens_q: expected at most one of values, fill and "
        "file, got values and fill"}},
      {"\"expect\": {\"verdict\": \"ok\"}",
       "\"tests\": [{\"id\": \"a\", \"change\": {}, \"expect\": {\"verdict\": \"fine\"}, \"args\": "
       "{}}]",
       {"15: FC-C007: /tests/0/args: expected one of id, note, refs, change, expect, got \"args\"; "
        "the nearest is \"change\"",
        "15: FC-C013: /tests/0/expect/verdict: expected one of ok, error, panic, hazard, mismatch, "
        "mistrusted, skipped, invalid, got \"fine\"; the nearest is \"skipped\""}},
  });
}
