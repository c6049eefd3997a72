// A text without what quotes it: log lines in JSON, messages of the API server, traces of shells,
// URLs, strings as programming languages show them, and any of these within another. Two texts that
// say the same differ in nothing else afterwards. Not a decoder: what it gives is to be compared
// with what it gives, and to be shown to nobody. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::hooks {

// Backslashes are gone, quotation marks side by side are one ', a control character is the letter
// that it has behind a backslash (which may as well be the letter itself, as bash writes it), codes
// of characters are these characters, and + is a space.
class Unquoted {
 public:
  // Precondition: shorter than 4 GiB.
  explicit Unquoted(std::string_view text);

  // It would differ from the text.
  static bool may_differ(std::string_view text);

  const std::string& text() const { return text_; }
  // What text()[at] stands for began there in the text that was given, and ended before there.
  std::size_t begin(std::size_t at) const { return places_[at].begin; }
  std::size_t end(std::size_t at) const { return places_[at].end; }

 private:
  struct Place {
    std::uint32_t begin;
    std::uint32_t end;
  };
  void add(std::string_view bytes, std::size_t begin, std::size_t end);

  std::string text_;
  std::vector<Place> places_;
};

// Up to an escape that begins near the text's end and may go on behind it.
std::string_view without_begun_escape(std::string_view text);

}  // namespace kubewatch::hooks
