#include "base/strings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.hpp"
#include "base/utf8.hpp"
#include "support/catch.hpp"
#include "support/nobody.hpp"

using namespace kubewatch;
using namespace kubewatch::base;

namespace {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "kw-base-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("words are apart by blanks of any kind and number") {
  using Words = std::vector<std::string>;
  CHECK(split_at_blanks("a b") == Words{"a", "b"});
  CHECK(split_at_blanks(" \ta\t\tb \n c\r\n") == Words{"a", "b", "c"});
  CHECK(split_at_blanks(" \t ").empty());
}

TEST_CASE("split keeps empty parts and join is its inverse") {
  CHECK(split("a,b,,c", ',') == Strings{"a", "b", "", "c"});
  CHECK(split("", ',') == Strings{""});
  CHECK(split(",", ',') == Strings{"", ""});
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
}

TEST_CASE("trim and to_lower touch ASCII only") {
  CHECK(trim(" \t\r\n x y \v\f") == "x y");
  CHECK(trim("  ").empty());
  CHECK(to_lower("ABCxyzÉ") == "abcxyzÉ");
}

TEST_CASE("percent encoding keeps unreserved characters and decodes back") {
  CHECK(percent_encode("aZ0-._~ /?é") == "aZ0-._~%20%2F%3F%C3%A9");
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  CHECK(*percent_decode(percent_encode(all)) == all);
  CHECK(*percent_decode("a+b%2b", true) == "a b+");
  CHECK(*percent_decode("a+b") == "a+b");
}

TEST_CASE("a broken percent escape is an error") {
  for (const char* text : {"%", "%4", "a%zz", "%4g", "abc%1"}) {
    INFO(text);
    auto result = percent_decode(text);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind() == ErrorKind::invalid);
  }
}

TEST_CASE("base64 follows RFC 4648") {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : cases) {
    CHECK(base64_encode(plain) == encoded);
    CHECK(*base64_decode(encoded) == plain);
  }
  CHECK(base64url_encode("\xfb\xff\xfe") == "-__-");
  CHECK(base64url_encode("f") == "Zg");
  CHECK(*base64_decode("-__-") == "\xfb\xff\xfe");
  CHECK(*base64_decode("+//+") == "\xfb\xff\xfe");
  CHECK(*base64_decode("Zg") == "f");
  for (const char* text : {"Z", "Zg=", "Z===", "Zm9v!", "Zm 9v", "====", "Zg==Zg=="}) {
    INFO(text);
    CHECK_FALSE(base64_decode(text).ok());
  }
}

TEST_CASE("nothing a terminal interprets survives escape_for_terminal") {
  CHECK(escape_for_terminal("plain é😀\ttab") == "plain é😀\ttab");
  CHECK(escape_for_terminal("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(escape_for_terminal("a\nb\rc") == "a\\nb\\rc");
  CHECK(escape_for_terminal("a\nb\r", true) == "a\nb\\r");
  CHECK(escape_for_terminal(std::string_view("\0\x07\x7f", 3)) == "\\x00\\x07\\x7f");
  CHECK(escape_for_terminal("\xc2\x9b"
                            "31m") == "\\u009b31m");
  CHECK(escape_for_terminal("\xe2\x80\xae"
                            "x") == "\\u202ex");
  CHECK(escape_for_terminal("\xe2\x81\xa6") == "\\u2066");
  CHECK(escape_for_terminal("a\xff\xc3(") == "a\\xff\\xc3(");
  CHECK(escape_for_terminal("\xf3\xa0\x80\x81") == "\\U000e0001");
}

TEST_CASE("of several lines one is made, with single spaces between") {
  CHECK(one_line("plain text ") == "plain text ");
  CHECK(one_line("a:\n- .b\r\n  - .c") == "a: - .b - .c");
  CHECK(one_line("a \n\n ::error::b\n") == "a ::error::b");
  CHECK(one_line("\n\na") == "a");
  CHECK(one_line("\n").empty());
}

TEST_CASE("what is before a separator is taken off the front") {
  std::string_view text = "a::b";
  CHECK(take_until(text, ':') == "a");
  CHECK(take_until(text, ':').empty());
  CHECK(take_until(text, ':') == "b");
  CHECK(text.empty());
}

TEST_CASE("UTF-8 is checked strictly") {
  for (const char* text : {"", "a", "é", "€", "😀", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"}) {
    CHECK(is_valid_utf8(text));
  }
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "a\xe2\x28\xa1"}) {
    CHECK_FALSE(is_valid_utf8(text));
  }
  std::string out;
  for (const char32_t c : {U'a', U'é', U'€', U'😀'}) append_utf8(out, c);
  CHECK(out == "aé€😀");
}

TEST_CASE("suggestions are the closest names first") {
  const Strings known = {"get", "watch", "wait", "apply", "create", "crd-gen"};
  CHECK(suggest("aply", known) == Strings{"apply"});
  CHECK(suggest("watc", known) == Strings{"watch", "wait"});
  CHECK(suggest("CREATE", known) == Strings{"create"});
  CHECK(suggest("zzzzzz", known).empty());
  CHECK(suggest("ab", {"cd"}).empty());
  CHECK(suggest(std::string(100000, 'x'), known).empty());
}

TEST_CASE("read_file names the path and says what is wrong") {
  const TempDir dir;
  REQUIRE(write_file_atomic(dir.file("a"), "content", 0600).ok());
  CHECK(*read_file(dir.file("a"), 7) == "content");
  const auto kind_of = [](const Result<std::string>& result) {
    REQUIRE_FALSE(result.ok());
    return result.error().kind();
  };
  CHECK(kind_of(read_file(dir.file("a"), 6)) == ErrorKind::too_large);
  CHECK(kind_of(read_file(dir.file("absent"), 6)) == ErrorKind::not_found);
  CHECK(kind_of(read_file(dir.path(), 6)) == ErrorKind::invalid);
  CHECK(read_file(dir.file("absent"), 6).error().message().find(dir.file("absent")) !=
        std::string::npos);
  // Files without a size of their own are limited too.
  CHECK(kind_of(read_file("/dev/zero", 1000)) == ErrorKind::too_large);
  CHECK(read_file("/proc/self/stat", 100000)->size() > 0);
}

TEST_CASE("read_regular_file waits for nothing") {
  const TempDir dir;
  REQUIRE(write_file_atomic(dir.file("a"), "content", 0600).ok());
  std::filesystem::create_symlink(dir.file("a"), dir.file("link"));
  CHECK(*read_regular_file(dir.file("link"), 7) == "content");
  CHECK(read_regular_file("/proc/self/stat", 100000)->size() > 0);
  const auto error_of = [](const std::string& path) {
    const auto read = read_regular_file(path, 100);
    REQUIRE_FALSE(read.ok());
    return read.error();
  };
  CHECK(error_of(dir.file("absent")).is_not_found());
  CHECK(error_of(dir.path()).message().find("folder") != std::string::npos);
  REQUIRE(::mkfifo(dir.file("fifo").c_str(), 0600) == 0);
  const int writer = ::open(dir.file("fifo").c_str(), O_RDWR | O_CLOEXEC);
  std::filesystem::create_symlink(dir.file("fifo"), dir.file("to-fifo"));
  for (const std::string& path : {dir.file("fifo"), dir.file("to-fifo"), std::string("/dev/zero"),
                                  "/proc/self/fd/" + std::to_string(writer)}) {
    INFO(path);
    CHECK(error_of(path).kind() == ErrorKind::invalid);
    CHECK(error_of(path).message() == "cannot read " + path + ": it is no regular file");
  }
  ::close(writer);
}

TEST_CASE(
    "a pipe that nobody has opened to write is no empty file, unless somebody is waited for") {
  const TempDir dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto read = read_file(fifo, 100);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().kind() == ErrorKind::invalid);
  CHECK(read.error().message() == "cannot read " + fifo + ": it is a pipe that nobody writes to");
  // Who opens it first waits for the other.
  const auto with_writer = [&](const std::string& text) {
    std::thread writer([&] { std::ofstream(fifo) << text; });
    auto out = read_awaited_file(fifo, 100);
    writer.join();
    return out;
  };
  CHECK(*with_writer("content") == "content");
  CHECK(with_writer("")->empty());
  CHECK(with_writer(std::string(101, 'x')).error().kind() == ErrorKind::too_large);
  // Of a pipe without a name the writer may be gone before it is opened.
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ::close(ends[1]);
  const std::string unnamed = "/proc/self/fd/" + std::to_string(ends[0]);
  CHECK(read_file(unnamed, 100)->empty());
  CHECK(read_awaited_file(unnamed, 100)->empty());
  ::close(ends[0]);
  REQUIRE(write_file_atomic(dir.file("empty"), "", 0600).ok());
  CHECK(read_awaited_file(dir.file("empty"), 100)->empty());
}

TEST_CASE("a file without permission is not taken for what a server forbids") {
  const TempDir dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms::all);
  REQUIRE(write_file_atomic(dir.file("a"), "x", 0).ok());
  const test::AsNobody nobody;
  const auto read = read_file(dir.file("a"), 10);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().kind() == ErrorKind::unavailable);
}

TEST_CASE("write_file_atomic sets the mode, replaces, and leaves nothing behind on failure") {
  const TempDir dir;
  REQUIRE(write_file_atomic(dir.file("a"), "one", 0644).ok());
  REQUIRE(write_file_atomic(dir.file("a"), "two", 0600).ok());
  CHECK(*read_file(dir.file("a"), 10) == "two");
  struct stat info {};
  REQUIRE(::stat(dir.file("a").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600U);
  CHECK(write_file_atomic(dir.file("no/such/folder"), "x", 0600).error().kind() ==
        ErrorKind::not_found);
  std::filesystem::create_directory(dir.file("folder"));
  CHECK(write_file_atomic(dir.file("folder"), "x", 0600).error().kind() == ErrorKind::invalid);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    ++entries;
  }
  CHECK(entries == 2);
}
