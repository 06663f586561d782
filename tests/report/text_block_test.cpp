#include "src/report/text_block.h"

#include <doctest/doctest.h>

using flashcheck::columns_of;
using flashcheck::labelled;
using flashcheck::printable;
using flashcheck::wrap;

TEST_CASE("text is wrapped at words, and a long word stays whole") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("a candle-flash-attn/src/lib.rs:543 b", 5) ==
        std::vector<std::string>{"a", "candle-flash-attn/src/lib.rs:543", "b"});
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("two\nlines", 80) == std::vector<std::string>{"two", "lines"});
}

TEST_CASE("later lines stand under the first") {
  CHECK(labelled("why", "alpha beta gamma delta epsilon", 35) ==
        "  why      alpha beta gamma delta\n"
        "           epsilon\n");
}

TEST_CASE("columns are counted in code points") { CHECK(columns_of("Σ|q·k|") == 6); }

TEST_CASE("control characters cannot reach a terminal") {
  CHECK(printable("a\x1b[31mb\r\x7f\n") == "a\\x1B[31mb\\x0D\\x7F\n");
  CHECK(printable("\xc2\x9b"
                  "31m")
            .find('\x9b') == std::string::npos);
  CHECK(printable("\xc2\xb5") == "\xc2\xb5");
}
