#include "base/xml_text.hpp"

#include "base/utf8.hpp"

namespace kubewatch::base {

namespace {

bool is_xml_char(const Utf8Char& c) {
  if (!c.valid || c.code == 0xFFFE || c.code == 0xFFFF) return false;
  return c.code >= 0x20 || c.code == '\t';
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = next_utf8(text, at);
    switch (c.valid ? c.code : U'\0') {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: out += is_xml_char(c) ? text.substr(at, c.size) : "?";
    }
    at += c.size;
  }
  return out;
}

}  // namespace kubewatch::base
