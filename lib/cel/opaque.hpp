// The values that Kubernetes' libraries add: quantities, addresses, networks, URLs, semantic
// versions, named formats. Each parses its text and knows equality and order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "cel/value.hpp"

namespace kubewatch::cel {

struct Quantity : Object, base::Quantity {
  explicit Quantity(const base::Quantity& value) : base::Quantity(value) {}
  Quantity(const Quantity& other) : base::Quantity(other) {}
};

// IPv4 or IPv6 without zone and without mapped IPv4. `why` is set when it is none.
struct Address : Object {
  bool v4 = true;
  std::array<std::uint8_t, 16> bytes{};  // the first four for IPv4

  Address() = default;
  Address(const Address& other) : v4(other.v4), bytes(other.bytes) {}
  static Result<Address> parse(std::string_view text);
  std::string str() const;  // canonical
  bool is_unspecified() const;
  bool is_loopback() const;
  bool is_link_local_multicast() const;
  bool is_link_local_unicast() const;
  bool is_global_unicast() const;
  bool operator==(const Address& other) const { return v4 == other.v4 && bytes == other.bytes; }
  int bits() const { return v4 ? 32 : 128; }
};

struct Network : Object {
  Address address;
  int prefix = 0;

  Network() = default;
  Network(const Network& other) : address(other.address), prefix(other.prefix) {}
  static Result<Network> parse(std::string_view text);
  std::string str() const;
  Network masked() const;
  bool contains(const Address& other) const;
  bool contains(const Network& other) const;
};

struct Semver : Object {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::vector<std::string> pre;

  Semver() = default;
  Semver(const Semver& other)
      : major(other.major), minor(other.minor), patch(other.patch), pre(other.pre) {}
  // `normalize` takes "v1.2" and leading zeros.
  static Result<Semver> parse(std::string_view text, bool normalize);
  int compare(const Semver& other) const;
};

// A URL as it stands in a request line: absolute, or a path from the root.
struct Url : Object {
  std::string text, scheme, host, path, query;  // path as it was escaped

  Url() = default;
  static Result<Url*> parse(std::string_view text);
  static bool valid(std::string_view text);
  std::string hostname() const;
  std::string port() const;
  std::map<std::string, std::vector<std::string>> parameters() const;
};

// One of format.dns1123Label() and so on.
struct Format : Object {
  explicit Format(std::string_view format_name) : name(format_name) {}
  std::string name;

  static bool known(std::string_view name);
  std::size_t regex_size() const;
  // What is wrong with the text; empty when nothing is.
  std::vector<std::string> problems(std::string_view text) const;
};

}  // namespace kubewatch::cel
