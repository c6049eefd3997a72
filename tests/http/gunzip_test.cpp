// gzip unpacked as it comes, however it was cut, and what is no gzip.
#include "http/gunzip.hpp"

#include <string>

#include "http/gzip.hpp"
#include "support/catch.hpp"

namespace kubewatch::http {
namespace {

std::string words(std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; out.size() < bytes; ++i) out += "item " + std::to_string(i * 7919) + "\n";
  return out;
}

void check_in_two_pieces(std::string_view packed, std::size_t cut, const std::string& text) {
  Gunzip gunzip;
  std::string out;
  const auto keep = [&](auto piece) {
    out += piece;
    return true;
  };
  REQUIRE(gunzip.feed(packed.substr(0, cut), keep).ok());
  REQUIRE(gunzip.feed(packed.substr(cut), keep).ok());
  CHECK(gunzip.whole());
  CHECK(out == text);
}

}  // namespace

TEST_CASE("gzip gives what was packed, for every way to cut it") {
  for (const std::size_t size : {0U, 1U, 5000U, 1U << 20U}) {
    const std::string text = words(size);
    const std::string packed = gzip(text);
    for (const std::size_t chunk :
         {std::size_t{1}, std::size_t{7}, std::size_t{16384}, packed.size()}) {
      Gunzip gunzip;
      std::string out;
      for (std::size_t at = 0; at < packed.size(); at += chunk) {
        CHECK_FALSE(gunzip.whole());
        const auto fed = gunzip.feed(std::string_view(packed).substr(at, chunk), [&](auto piece) {
          out += piece;
          return true;
        });
        REQUIRE(fed.ok());
      }
      CHECK(gunzip.whole());
      CHECK(out == text);
    }
  }
}

TEST_CASE("gzip of several members is one text, for every way to cut it") {
  const std::string packed = gzip("one, ") + gzip("") + gzip(words(5000)) + gzip("and three");
  const std::string text = "one, " + words(5000) + "and three";
  for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
    INFO("cut at " << cut);
    check_in_two_pieces(packed, cut, text);
  }
}

TEST_CASE("behind a member only another whole one is gzip") {
  const auto keep = [](auto) { return true; };
  CHECK_FALSE(Gunzip().feed(gzip("one") + "rest", keep).ok());
  CHECK_FALSE(Gunzip().feed(gzip("one") + std::string(5, '\0'), keep).ok());
  Gunzip cut;
  REQUIRE(cut.feed(gzip("one") + gzip("two").substr(0, 5), keep).ok());
  CHECK_FALSE(cut.whole());
}

TEST_CASE("a head with any of its parts may come in any pieces") {
  const std::string text = "an answer of a few words, a few words";
  const std::string plain = gzip(text);
  for (unsigned flags = 0; flags < 32; ++flags) {
    std::string packed = plain.substr(0, 10);
    packed[3] = static_cast<char>(flags);
    if ((flags & 4U) != 0)
      packed += std::string(
          "\x05\x00"
          "extra",
          7);
    if ((flags & 8U) != 0) packed += std::string("name\0", 5);
    if ((flags & 16U) != 0) packed += std::string("a comment\0", 10);
    if ((flags & 2U) != 0) packed += "ab";
    packed += plain.substr(10);
    for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
      INFO("flags " << flags << ", cut at " << cut);
      check_in_two_pieces(packed, cut, text);
    }
  }
}

TEST_CASE("a head that is none, or never ends, is refused") {
  const auto keep = [](auto) { return true; };
  CHECK_FALSE(Gunzip().feed("no", keep).ok());
  CHECK_FALSE(Gunzip().feed(std::string("\x1f\x8b\x07", 3), keep).ok());
  CHECK_FALSE(Gunzip().feed(std::string("\x1f\x8b\x08\x20\0\0\0\0\0\0", 10), keep).ok());
  Gunzip endless;
  REQUIRE(endless.feed(std::string("\x1f\x8b\x08\x08\0\0\0\0\0\0", 10), keep).ok());
  bool refused = false;
  for (int i = 0; i < 100 && !refused; ++i) {
    refused = !endless.feed(std::string(1000, 'n'), keep).ok();
  }
  CHECK(refused);
}

TEST_CASE("gzip hands out what has come, before its end") {
  const std::string text = words(2U << 20U);
  const std::string packed = gzip(text);
  Gunzip gunzip;
  std::string out;
  REQUIRE(gunzip
              .feed(std::string_view(packed).substr(0, packed.size() / 2),
                    [&](auto piece) {
                      out += piece;
                      return true;
                    })
              .ok());
  CHECK(out.size() > text.size() / 3);
  CHECK(text.compare(0, out.size(), out) == 0);
}

TEST_CASE("a caller that has enough is given no more, from a bomb of a few bytes") {
  const std::string bomb = gzip(std::string(64U << 20U, '\0'));
  Gunzip gunzip;
  std::size_t pieces = 0;
  CHECK(gunzip.feed(bomb, [&](auto) { return ++pieces < 3; }).ok());
  CHECK(pieces == 3);
}

TEST_CASE("each changed byte of gzip is an error or changes nothing") {
  const std::string text = words(300);
  const std::string packed = gzip(text);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    std::string changed = packed;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    Gunzip gunzip;
    std::string out;
    const auto fed = gunzip.feed(changed, [&](auto piece) {
      out += piece;
      return out.size() < (1U << 20U);
    });
    INFO("byte " << i);
    CHECK((!fed.ok() || !gunzip.whole() || out == text));
  }
}

}  // namespace kubewatch::http
