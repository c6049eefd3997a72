// Addresses and networks: cel/opaque.hpp.
#include <array>
#include <cstdio>
#include <cstring>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

Error broken(std::string_view text, const char* why) {
  return {ErrorKind::invalid, "IP Address \"" + std::string(text) +
                                  "\" parse error during conversion from string: ParseAddr(\"" +
                                  std::string(text) + "\"): " + why};
}

// "10.0.0.1" without leading zeros.
bool parse_v4(std::string_view text, std::uint8_t* out) {
  const auto parts = base::split(text, '.');
  if (parts.size() != 4) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& part = parts[i];
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
    int number = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    if (number > 255) return false;
    out[i] = static_cast<std::uint8_t>(number);
  }
  return true;
}

// The groups of one side of "::"; the last one may be an IPv4 address.
bool parse_groups(std::string_view text, bool last_may_be_v4, std::vector<std::uint8_t>& out) {
  if (text.empty()) return true;
  const auto parts = base::split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (last_may_be_v4 && i + 1 == parts.size() && part.find('.') != std::string::npos) {
      std::array<std::uint8_t, 4> v4{};
      if (!parse_v4(part, v4.data())) return false;
      out.insert(out.end(), v4.begin(), v4.end());
      continue;
    }
    if (part.empty() || part.size() > 4) return false;
    unsigned number = 0;
    for (const char c : part) {
      if (!base::is_hex_digit(c)) return false;
      number = number * 16 + static_cast<unsigned>(base::hex_value(c));
    }
    out.push_back(static_cast<std::uint8_t>(number >> 8U));
    out.push_back(static_cast<std::uint8_t>(number & 255U));
  }
  return out.size() <= 16;
}

bool parse_v6(std::string_view text, std::array<std::uint8_t, 16>& out) {
  const auto gap = text.find("::");
  std::vector<std::uint8_t> head, tail;
  if (gap == std::string_view::npos) {
    if (!parse_groups(text, true, head) || head.size() != 16) return false;
  } else {
    if (!parse_groups(text.substr(0, gap), false, head) ||
        !parse_groups(text.substr(gap + 2), true, tail) || head.size() + tail.size() > 14) {
      return false;
    }
  }
  std::copy(head.begin(), head.end(), out.begin());
  std::copy(tail.rbegin(), tail.rend(), out.rbegin());
  return true;
}

bool is_mapped(const std::array<std::uint8_t, 16>& bytes) {
  for (std::size_t i = 0; i < 10; ++i) {
    if (bytes[i] != 0) return false;
  }
  return bytes[10] == 255 && bytes[11] == 255;
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  Address out;
  if (text.find(':') == std::string_view::npos) {
    if (!parse_v4(text, out.bytes.data())) return broken(text, "unable to parse IP");
    return out;
  }
  if (text.find('%') != std::string_view::npos) {
    return Error(ErrorKind::invalid,
                 "IP address \"" + std::string(text) + "\" with zone value is not allowed");
  }
  out.v4 = false;
  if (!parse_v6(text, out.bytes)) return broken(text, "unable to parse IP");
  if (is_mapped(out.bytes)) {
    return Error(ErrorKind::invalid,
                 "IPv4-mapped IPv6 address \"" + std::string(text) + "\" is not allowed");
  }
  return out;
}

std::string Address::str() const {
  if (v4)
    return base::join({std::to_string(bytes[0]), std::to_string(bytes[1]), std::to_string(bytes[2]),
                       std::to_string(bytes[3])},
                      ".");
  const auto group = [this](std::size_t i) { return bytes[2 * i] * 256U + bytes[2 * i + 1]; };
  std::size_t best = 8, longest = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && group(end) == 0) ++end;
    if (end - i > longest) {
      best = i;
      longest = end - i;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += longest - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "%x", group(i));
    out += hex.data();
  }
  return out;
}

bool Address::is_unspecified() const {
  return bytes == std::array<std::uint8_t, 16>{};
}
bool Address::is_loopback() const {
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return v4 ? bytes[0] == 127 : bytes == one;
}
bool Address::is_link_local_multicast() const {
  if (v4) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xff && (bytes[1] & 15U) == 2;
}
bool Address::is_link_local_unicast() const {
  return v4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && (bytes[1] & 0xC0U) == 0x80;
}
bool Address::is_global_unicast() const {
  const bool broadcast =
      v4 && bytes[0] == 255 && bytes[1] == 255 && bytes[2] == 255 && bytes[3] == 255;
  const bool multicast = v4 ? (bytes[0] & 0xF0U) == 0xE0 : bytes[0] == 0xff;
  return !is_unspecified() && !is_loopback() && !multicast && !is_link_local_unicast() &&
         !broadcast;
}

Result<Network> Network::parse(std::string_view text) {
  const auto bad = [&text](const std::string& why) {
    return Error(ErrorKind::invalid,
                 "network address parse error during conversion from string: "
                 "netip.ParsePrefix(\"" +
                     std::string(text) + "\"): " + why);
  };
  const auto slash = text.rfind('/');
  if (slash == std::string_view::npos) return bad("no '/'");
  const auto address = text.substr(0, slash), bits = text.substr(slash + 1);
  auto parsed = Address::parse(address);
  if (!parsed.ok()) {
    if (parsed.error().message().starts_with("IPv4-mapped")) {
      return Error(ErrorKind::invalid,
                   "IPv4-mapped IPv6 address \"" + std::string(text) + "\" is not allowed");
    }
    return bad("ParseAddr(\"" + std::string(address) + "\"): unable to parse IP");
  }
  Network out;
  out.address.v4 = parsed->v4;
  out.address.bytes = parsed->bytes;
  if (bits.empty() || bits.size() > 3 || (bits.size() > 1 && bits[0] == '0')) {
    return bad("bad bits after slash: \"" + std::string(bits) + "\"");
  }
  for (const char c : bits) {
    if (c < '0' || c > '9') return bad("bad bits after slash: \"" + std::string(bits) + "\"");
    out.prefix = out.prefix * 10 + (c - '0');
  }
  if (out.prefix > out.address.bits()) return bad("prefix length out of range");
  return out;
}

std::string Network::str() const {
  return address.str() + "/" + std::to_string(prefix);
}

Network Network::masked() const {
  Network out(*this);
  for (int bit = prefix; bit < address.bits(); ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    out.address.bytes[byte] = static_cast<std::uint8_t>(out.address.bytes[byte] &
                                                        ~(0x80U >> static_cast<unsigned>(bit % 8)));
  }
  return out;
}

bool Network::contains(const Address& other) const {
  if (address.v4 != other.v4) return false;
  Network same(*this), theirs(*this);
  theirs.address.bytes = other.bytes;
  return same.masked().address == theirs.masked().address;
}

bool Network::contains(const Network& other) const {
  return prefix <= other.prefix && contains(other.address);
}

}  // namespace kubewatch::cel
