// Members of an object into optional fields, for the structs that crd-gen writes. Not for documents
// whose fields nobody declared: those are Json.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::client {

// nlohmann makes of a number whatever fits into the type: it would be written back as another one.
struct ReadField {
  template <class T>
  static void exactly(const Json& in, T& into) {
    in.get_to(into);
  }
  template <class T>
  requires(std::integral<T> && !std::is_same_v<T, bool>) static void exactly(const Json& in,
                                                                             T& into) {
    if (!in.is_number_integer()) throw std::invalid_argument("is no whole number");
    const bool fits = in.is_number_unsigned() ? std::in_range<T>(in.get<std::uint64_t>())
                                              : std::in_range<T>(in.get<std::int64_t>());
    if (!fits) throw std::invalid_argument("the number does not fit");
    into = in.get<T>();
  }
  template <std::floating_point T>
  static void exactly(const Json& in, T& into) {
    if (!in.is_number()) throw std::invalid_argument("is no number");
    into = in.get<T>();
  }
  template <class T>
  static void exactly(const Json& in, std::vector<T>& into) {
    if (!in.is_array()) throw std::invalid_argument("is no list");
    into.clear();
    for (const Json& item : in) {
      T one{};
      exactly(item, one);
      into.push_back(std::move(one));
    }
  }
  template <class T>
  static void exactly(const Json& in, std::map<std::string, T>& into) {
    if (!in.is_object()) throw std::invalid_argument("is no map");
    into.clear();
    for (const auto& [key, value] : in.items()) exactly(value, into[key]);
  }
};

// Absent and null leave it as it is. Throws std::invalid_argument, naming the field, where the
// value is of another type or does not fit; generated code makes an Error of it.
template <class T>
void read_field(const Json& in, const char* key, std::optional<T>& into) {
  const auto it = in.find(key);
  if (it == in.end() || it->is_null()) return;
  try {
    T value{};
    ReadField::exactly(*it, value);
    into = std::move(value);
  } catch (const std::exception& problem) {
    throw std::invalid_argument(std::string(key) + ": " + problem.what());
  }
}

}  // namespace kubewatch::client
