// IP addresses, ranges of them, and names of resources: the leaf checks of checks.hpp that
// read more than a text's characters.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/checks.hpp"

namespace kubewatch::builtin {

namespace {

using Bytes = std::array<unsigned char, 16>;

// An IPv4 address is kept in the last four bytes.
struct Address {
  Bytes bytes{};
  bool v4 = false;
  bool mapped = false;  // an IPv4 address written as an IPv6 one
  bool leading_zero = false;
};

std::optional<int> decimal(std::string_view text, int most) {
  if (text.empty() || text.size() > 9 || !std::all_of(text.begin(), text.end(), base::is_digit)) {
    return std::nullopt;
  }
  int value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return value <= most ? std::optional(value) : std::nullopt;
}

bool has_leading_zero(std::string_view text) {
  return text.size() > 1 && text.front() == '0';
}

std::optional<Address> parse_v4(const std::string& text) {
  const auto parts = base::split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  Address out;
  out.v4 = true;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto part = decimal(parts[i], 255);
    if (!part) return std::nullopt;
    out.leading_zero = out.leading_zero || has_leading_zero(parts[i]);
    out.bytes.at(12 + i) = static_cast<unsigned char>(*part);
  }
  return out;
}

std::optional<Address> parse_address(const std::string& text) {
  if (text.find(':') == std::string::npos) return parse_v4(text);
  Address out;
  if (::inet_pton(AF_INET6, text.c_str(), out.bytes.data()) != 1) return std::nullopt;
  const bool zeros =
      std::all_of(out.bytes.begin(), out.bytes.begin() + 10, [](auto b) { return b == 0; });
  out.mapped = zeros && out.bytes[10] == 0xff && out.bytes[11] == 0xff;
  return out;
}

struct Range {
  Address address;
  int bits = 0;  // of the prefix
  bool leading_zero = false;
};

std::optional<Range> parse_range(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto address = parse_address(text.substr(0, slash));
  const std::string prefix = text.substr(slash + 1);
  if (!address) return std::nullopt;
  const auto bits = decimal(prefix, address->v4 ? 32 : 128);
  if (!bits) return std::nullopt;
  return Range{*address, *bits, address->leading_zero || has_leading_zero(prefix)};
}

// Its place among the sixteen bytes.
int first_bit(const Address& address) {
  return address.v4 ? 96 : 0;
}

bool bit_at(const Bytes& bytes, int at) {
  return (bytes.at(static_cast<std::size_t>(at) / 8) >> (7 - at % 8) & 1) != 0;
}

bool has_bits_beyond(const Range& range) {
  for (int at = first_bit(range.address) + range.bits; at < 128; ++at) {
    if (bit_at(range.address.bytes, at)) return true;
  }
  return false;
}

}  // namespace

bool is_cidr(const std::string& text) {
  return parse_range(text).has_value();
}

bool is_ip(const std::string& text) {
  return parse_address(text).has_value();
}

bool is_ipv6(const std::string& text) {
  const auto address = parse_address(text);
  return address && !address->v4 && !address->mapped;
}

std::string canonical_ip(const std::string& text) {
  const auto address = parse_address(text);
  if (!address) return "";
  std::array<char, INET6_ADDRSTRLEN> out{};
  const bool v4 = address->v4 || address->mapped;
  const Bytes& bytes = address->bytes;
  // Go ends none of these in an IPv4 address.
  const bool low = std::all_of(bytes.begin(), bytes.begin() + 12, [](auto b) { return b == 0; });
  if (!v4 && low && (bytes[12] != 0 || bytes[13] != 0)) {
    return fmt::format("::{:x}:{:x}", bytes[12] << 8 | bytes[13], bytes[14] << 8 | bytes[15]);
  }
  const void* from = v4 ? bytes.data() + 12 : bytes.data();
  ::inet_ntop(v4 ? AF_INET : AF_INET6, from, out.data(), out.size());
  return out.data();
}

void check_ip(const Field& address, const std::set<std::string>& known) {
  const std::string text = address.text();
  if (known.count(text) != 0) return;
  const auto parsed = parse_address(text);
  if (!parsed) {
    address.invalid_text("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  } else if (parsed->leading_zero) {
    address.invalid("must not have leading 0s");
  } else if (parsed->mapped) {
    address.invalid("must not be an IPv4-mapped IPv6 address");
  }
}

void check_cidr(const Field& range, const std::set<std::string>& known) {
  const std::string text = range.text();
  if (known.count(text) != 0) return;
  const auto parsed = parse_range(text);
  if (!parsed) {
    range.invalid_text("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  } else if (parsed->leading_zero) {
    range.invalid("must not have leading 0s in IP or prefix length");
  } else if (parsed->address.mapped) {
    range.invalid("must not have an IPv4-mapped IPv6 address");
  } else if (has_bits_beyond(*parsed)) {
    range.invalid("must not have bits set beyond the prefix length");
  }
}

void check_canonical_ip(const Field& address) {
  const std::size_t told = address.errors().size();
  check_ip(address);
  const std::string form = canonical_ip(address.text());
  if (address.errors().size() != told || address.is(form)) return;
  address.invalid_text("must be in canonical form (" + go_quoted(form) + ")");
}

std::string canonical_cidr(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  return canonical_ip(text.substr(0, slash)) + text.substr(slash);
}

void check_canonical_cidr(const Field& range) {
  const std::size_t told = range.errors().size();
  check_cidr(range);
  const std::string text = range.text();
  const std::string form = canonical_cidr(text);
  if (range.errors().size() != told || text == form) return;
  range.invalid("must be in canonical form (" + go_quoted(form) + ")");
}

bool is_strict_subset(const std::string& range, const std::string& part) {
  const auto outer = parse_range(range);
  const auto inner = parse_range(part);
  if (!outer || !inner) return true;  // told already
  if (outer->address.v4 != inner->address.v4 || outer->bits >= inner->bits) return false;
  const int first = first_bit(outer->address);
  for (int at = first; at < first + outer->bits; ++at) {
    if (bit_at(outer->address.bytes, at) != bit_at(inner->address.bytes, at)) return false;
  }
  return true;
}

void check_endpoint_ip(const Field& address) {
  const auto parsed = parse_address(address.text());
  if (!parsed) return address.invalid_text("must be a valid IP address");
  const bool v4 = parsed->v4 || parsed->mapped;
  const Bytes& b = parsed->bytes;
  const auto all_zero = [&](std::size_t from, std::size_t to) {
    return std::all_of(b.begin() + from, b.begin() + to, [](auto byte) { return byte == 0; });
  };
  if (v4 ? all_zero(12, 16) : all_zero(0, 16)) {
    address.invalid(fmt::format("may not be unspecified ({})", address.text()));
  }
  if (v4 ? b[12] == 127 : all_zero(0, 15) && b[15] == 1) {
    address.invalid("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (v4 ? b[12] == 169 && b[13] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80) {
    address.invalid("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (v4 ? b[12] == 224 && b[13] == 0 && b[14] == 0 : b[0] == 0xff && (b[1] & 0x0f) == 0x02) {
    address.invalid("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

namespace {

constexpr std::string_view kHugePages = "hugepages-";

bool is_compute(const std::string& name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage";
}

// Counted, never parts of one.
bool is_counted(const std::string& name) {
  static const std::set<std::string> names = {"pods",
                                              "resourcequotas",
                                              "services",
                                              "replicationcontrollers",
                                              "secrets",
                                              "configmaps",
                                              "persistentvolumeclaims",
                                              "services.nodeports",
                                              "services.loadbalancers"};
  return names.count(name) != 0;
}

// As ResourceQuotas know them.
bool is_limited(const std::string& name) {
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (name.starts_with(prefix) && is_compute(name.substr(prefix.size()))) return true;
  }
  return is_compute(name) || name == "requests.storage";
}

}  // namespace

bool is_native_resource(const std::string& resource) {
  return resource.find('/') == std::string::npos ||
         resource.find("kubernetes.io/") != std::string::npos;
}

bool is_extended_resource(const std::string& resource) {
  return !is_native_resource(resource) && !resource.starts_with("requests.") &&
         qualified_problems("requests." + resource).empty();
}

bool is_huge_page(const std::string& resource) {
  return resource.starts_with(kHugePages);
}

bool is_quota_resource(const std::string& resource) {
  return is_limited(resource) || is_counted(resource) || is_huge_page(resource) ||
         resource.starts_with("requests.hugepages-");
}

bool may_overcommit(const std::string& resource) {
  return is_native_resource(resource) && !is_huge_page(resource);
}

void check_resource_name(const Field& place, const std::string& resource) {
  const auto problems = qualified_problems(resource);
  for (const auto& problem : problems) place.invalid_as(json_text(resource), problem);
  if (!problems.empty() || resource.find('/') != std::string::npos) return;
  if (is_quota_resource(resource) || resource == "storage") return;
  place.invalid_as(json_text(resource), "must be a standard resource type or fully qualified");
}

void check_container_resource_name(const Field& place, const std::string& resource) {
  check_resource_name(place, resource);
  if (resource.find('/') == std::string::npos) {
    if (is_compute(resource) || is_huge_page(resource)) return;
    place.invalid_as(json_text(resource), "must be a standard resource for containers");
  } else if (!is_native_resource(resource) && !is_extended_resource(resource)) {
    place.invalid_as(json_text(resource), "doesn't follow extended resource name standard");
  }
}

void check_resource_amount(const std::string& resource, const Field& amount) {
  check_not_negative_quantity(amount);
  const auto quantity = amount.quantity();
  if (!quantity || !(is_counted(resource) || is_extended_resource(resource))) return;
  if (quantity->as_int64()) return;
  const bool too_large = quantity->compare(base::Quantity::of(LLONG_MAX)) >= 0;
  if (!too_large) {
    amount.invalid_as(go_quoted(quantity_text(*quantity)), "must be an integer");
  }
}

}  // namespace kubewatch::builtin
