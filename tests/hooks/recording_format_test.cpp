#include "hooks/recording_format.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

struct Sample {
  std::string bytes{kRecordingMagic};
  std::vector<std::size_t> ends = {kRecordingMagic.size()};  // of magic and of each block
  std::vector<std::size_t> lines = {0};                      // that can be read then
  Sample() {
    for (int block = 0; block < 3; ++block) {
      std::string text;
      for (int line = 0; line <= block; ++line) text += "{\"t\":\"item\",\"s\":1}\n";
      bytes += recording_block(text);
      ends.push_back(bytes.size());
      lines.push_back(lines.back() + static_cast<std::size_t>(block) + 1);
    }
  }
};

}  // namespace

TEST_CASE("a recording gives back its lines") {
  const Sample sample;
  const auto loaded = load_recording(sample.bytes);
  REQUIRE(loaded.ok());
  CHECK(loaded->damage == "");
  CHECK(loaded->valid == sample.bytes.size());
  CHECK(loaded->lines == std::vector<std::string>(6, "{\"t\":\"item\",\"s\":1}"));
}

TEST_CASE("a recording cut off at any byte keeps its whole blocks and says where it ends") {
  const Sample sample;
  for (std::size_t size = 0; size <= sample.bytes.size(); ++size) {
    INFO(size);
    const auto loaded = load_recording(sample.bytes.substr(0, size));
    if (size < sample.ends[0]) {
      REQUIRE_FALSE(loaded.ok());
      CHECK(loaded.error().message().find("cut off") != std::string::npos);
      continue;
    }
    REQUIRE(loaded.ok());
    std::size_t blocks = 0;
    while (blocks + 1 < sample.ends.size() && sample.ends[blocks + 1] <= size) ++blocks;
    CHECK(loaded->valid == sample.ends[blocks]);
    CHECK(loaded->lines.size() == sample.lines[blocks]);
    CHECK(loaded->damage.empty() == (size == sample.ends[blocks]));
  }
}

TEST_CASE("any flipped bit of a recording ends it before the damaged block") {
  const Sample sample;
  for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
    INFO(at);
    std::string bytes = sample.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const auto loaded = load_recording(bytes);
    if (at < sample.ends[0]) {
      CHECK_FALSE(loaded.ok());
      continue;
    }
    REQUIRE(loaded.ok());
    std::size_t blocks = 0;
    while (sample.ends[blocks + 1] <= at) ++blocks;
    CHECK(loaded->valid == sample.ends[blocks]);
    CHECK(loaded->lines.size() == sample.lines[blocks]);
    CHECK_FALSE(loaded->damage.empty());
  }
}

TEST_CASE("a file that is no recording, or one of another version, is refused by name") {
  CHECK(load_recording("kubewatch-state 1\n").error().message() ==
        "it is no recording of kubewatch");
  CHECK(load_recording("kubewatch-recording 2\n").error().message() ==
        "it was made by another version of kubewatch");
  CHECK(load_recording("").error().message().find("cut off") != std::string::npos);
}

TEST_CASE("lines without end in few bytes are damage, none of them is taken") {
  const std::string magic(kRecordingMagic);
  const std::string good = recording_block("{}\n");
  for (const auto& [text, why] :
       {std::pair{std::string(1U << 20U, '\n'), "a block has an empty line"},
        std::pair{std::string("{}\n\n{}\n"), "a block has an empty line"}}) {
    const auto loaded = load_recording(magic + good + recording_block(text));
    REQUIRE(loaded.ok());
    CHECK(loaded->damage == why);
    CHECK(loaded->lines.size() == 1);
    CHECK(loaded->valid == magic.size() + good.size());
  }
  std::string many;
  for (std::size_t i = 0; i <= kMaxRecordedLines; ++i) many += "1\n";
  const auto loaded = load_recording(magic + good + recording_block(many));
  REQUIRE(loaded.ok());
  CHECK(loaded->damage == "it holds more lines than can be read");
  CHECK(loaded->lines.size() == 1);
}

TEST_CASE("a block that claims to be larger than any is damage, nothing is allocated for it") {
  std::string bytes{kRecordingMagic};
  bytes += std::string("\xff\xff\xff\x7f\xff\xff\xff\x7f\0\0\0\0", 12);
  const auto loaded = load_recording(bytes);
  REQUIRE(loaded.ok());
  CHECK(loaded->damage == "a block is damaged");
  CHECK(loaded->valid == kRecordingMagic.size());
}

}  // namespace kubewatch::hooks
