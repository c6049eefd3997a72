#include "hooks/recording_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/random.hpp"
#include "hooks/recording_format.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

LoadedRecording read(const std::string& path) {
  const auto bytes = base::read_file(path, kMaxRecording);
  REQUIRE(bytes.ok());
  auto loaded = load_recording(*bytes);
  REQUIRE(loaded.ok());
  return *loaded;
}

}  // namespace

TEST_CASE("what was flushed can be read while the recording goes on, by its owner only") {
  const test::RuleFolder folder;
  const auto file = RecordingFile::create(folder.file("r"));
  REQUIRE(file.ok());
  (*file)->add("{\"a\":1}");
  CHECK(read(folder.file("r")).lines.empty());
  (*file)->flush();
  (*file)->add("{\"a\":2}");
  const auto loaded = read(folder.file("r"));
  CHECK(loaded.lines == std::vector<std::string>{"{\"a\":1}"});
  CHECK(loaded.damage == "");
  (*file)->end("{\"t\":\"end\"}");
  CHECK((*file)->ended());
  CHECK(read(folder.file("r")).lines ==
        std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", "{\"t\":\"end\"}"});
  struct stat info {};
  REQUIRE(::stat(folder.file("r").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
}

TEST_CASE("a recording that reaches its limit ends, says why, and takes nothing more") {
  const test::RuleFolder folder;
  base::Random random(7);
  const auto file = RecordingFile::create(folder.file("r"), {4096});
  REQUIRE(file.ok());
  for (int i = 0; i < 100 && !(*file)->ended(); ++i) {
    (*file)->add("{\"a\":\"" + random.suffix(200) + "\"}");
    (*file)->flush();
  }
  CHECK((*file)->ended());
  CHECK((*file)->problem() == "it has reached its limit of 4096 bytes");
  CHECK((*file)->full());
  const auto loaded = read(folder.file("r"));
  CHECK(loaded.damage == "");
  REQUIRE(loaded.lines.size() > 3);
  CHECK(loaded.lines.back() == kFullLine);
  (*file)->add("{}");
  (*file)->end("{}");
  CHECK(read(folder.file("r")).lines.size() == loaded.lines.size());
}

TEST_CASE("a recording does not become longer than a replay can read, however well it packs") {
  const test::RuleFolder folder;
  RecordingLimits limits;
  limits.text = 10000;
  const auto text = RecordingFile::create(folder.file("text"), limits);
  REQUIRE(text.ok());
  for (int i = 0; i < 100; ++i) {
    (*text)->add(std::string(1000, 'x'));
    (*text)->flush();
  }
  CHECK((*text)->problem() == "it is as long as can be read again, unpacked");
  CHECK(read(folder.file("text")).lines.size() == 10);
  CHECK(read(folder.file("text")).lines.back() == kFullLine);

  limits = {};
  limits.lines = 3;
  const auto lines = RecordingFile::create(folder.file("lines"), limits);
  REQUIRE(lines.ok());
  for (int i = 0; i < 5; ++i) {
    (*lines)->add("{}");
    (*lines)->flush();
  }
  CHECK((*lines)->problem() == "it has as many lines as can be read again");
  CHECK(read(folder.file("lines")).lines.size() == 4);
}

TEST_CASE("an object that is too large ends the recording") {
  const test::RuleFolder folder;
  const auto file = RecordingFile::create(folder.file("r"));
  REQUIRE(file.ok());
  (*file)->add(std::string(kMaxRecordedLine, 'x'));
  CHECK((*file)->ended());
  CHECK(read(folder.file("r")).lines == std::vector<std::string>{std::string(kFullLine)});
}

TEST_CASE("an earlier recording is set aside, any other file is left alone") {
  const test::RuleFolder folder;
  RecordingFile::create(folder.file("r")).value()->end("{\"n\":1}");
  RecordingFile::create(folder.file("r")).value()->end("{\"n\":2}");
  CHECK(read(folder.file("r")).lines[0] == "{\"n\":2}");
  CHECK(read(folder.file("r.1")).lines[0] == "{\"n\":1}");
  folder.write("notes", "dear diary");
  CHECK(RecordingFile::create(folder.file("notes")).error().kind() == ErrorKind::already_exists);
  CHECK(*base::read_file(folder.file("notes"), 100) == "dear diary");
  CHECK_FALSE(RecordingFile::create(folder.file("none/r")).ok());
  // Nor is what stands where the earlier one would go.
  RecordingFile::create(folder.file("s")).value()->end("{\"n\":3}");
  folder.write("s.1", "dear diary");
  CHECK(RecordingFile::create(folder.file("s")).error().message().find("s.1 is there") !=
        std::string::npos);
  CHECK(*base::read_file(folder.file("s.1"), 100) == "dear diary");
  CHECK(read(folder.file("s")).lines[0] == "{\"n\":3}");
  // An empty file is replaced, not written into: another may have it open.
  const loop::Fd empty(::open(folder.write("empty", "").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(RecordingFile::create(folder.file("empty")).ok());
  char byte = 0;
  CHECK(::read(empty.get(), &byte, 1) == 0);
}

}  // namespace kubewatch::hooks
