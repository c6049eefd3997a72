#include "jq/paths.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/json.hpp"
#include "jq/jq.hpp"

namespace kubewatch::jq {

namespace {

// 64 bits in, 64 bits out, every bit depending on all before.
class Hasher {
 public:
  void word(std::uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15U + (state_ << 12U) + (state_ >> 4U);
    state_ ^= state_ >> 30U;
    state_ *= 0xbf58476d1ce4e5b9U;
    state_ ^= state_ >> 27U;
    state_ *= 0x94d049bb133111ebU;
    state_ ^= state_ >> 31U;
  }

  void text(std::string_view bytes) {
    word(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t chunk = 0;
      const std::size_t count = bytes.size() < 8 ? bytes.size() : 8;
      for (std::size_t i = 0; i < count; ++i) {
        chunk |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
      }
      word(chunk);
      bytes.remove_prefix(count);
    }
  }

  std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1dU;
};

// Marks keep values of different kinds apart.
enum class Mark : std::uint64_t {
  absent = 1,
  null,
  no,
  yes,
  integer,
  large,
  real,
  text,
  array,
  object
};

void hash_number(Hasher& hasher, const Json& number) {
  const auto mark = [&](Mark kind) { hasher.word(static_cast<std::uint64_t>(kind)); };
  if (number.is_number_float()) {
    const double value = number.get<double>();
    if (std::trunc(value) == value && std::fabs(value) < 9.2e18) {
      mark(Mark::integer);
      return hasher.word(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    mark(Mark::real);
    return hasher.word(bits);
  }
  if (number.is_number_unsigned() && number.get<std::uint64_t>() >> 63U != 0) {
    mark(Mark::large);
    return hasher.word(number.get<std::uint64_t>());
  }
  mark(Mark::integer);
  hasher.word(static_cast<std::uint64_t>(number.get<std::int64_t>()));
}

void hash_value(Hasher& hasher, const Json& value) {
  const auto mark = [&](Mark kind) { hasher.word(static_cast<std::uint64_t>(kind)); };
  switch (value.type()) {
    case Json::value_t::null: return mark(Mark::null);
    case Json::value_t::boolean: return mark(value.get<bool>() ? Mark::yes : Mark::no);
    case Json::value_t::string:
      mark(Mark::text);
      return hasher.text(value.get_ref<const std::string&>());
    case Json::value_t::array:
      mark(Mark::array);
      hasher.word(value.size());
      for (const Json& item : value) hash_value(hasher, item);
      return;
    case Json::value_t::object:
      mark(Mark::object);
      hasher.word(value.size());
      for (const auto& [key, member] : value.items()) {
        hasher.text(key);
        hash_value(hasher, member);
      }
      return;
    default: return hash_number(hasher, value);
  }
}

template <class J>
J* walk(J& value, const Path& path, std::size_t steps) {
  J* at = &value;
  for (std::size_t i = 0; i < steps; ++i) {
    if (!at->is_object()) return nullptr;
    const auto it = at->find(path[i]);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

}  // namespace

Result<Path> parse_path(std::string_view expression) {
  KW_ASSIGN(const Program program, Program::compile(expression));
  auto path = program.as_path();
  if (path) return *std::move(path);
  return Error(ErrorKind::invalid,
               fmt::format("\"{}\" is not a plain path such as .spec.replicas or "
                           ".metadata.labels[\"app\"]",
                           expression.substr(0, 200)));
}

Result<ChangeHash> ChangeHash::parse(const std::vector<std::string>& expressions) {
  std::vector<Path> paths;
  for (const std::string& expression : expressions) {
    KW_ASSIGN(Path path, parse_path(expression));
    paths.push_back(std::move(path));
  }
  return ChangeHash(std::move(paths));
}

std::uint64_t ChangeHash::of(const Json& object) const {
  Hasher hasher;
  for (const Path& path : paths_) {
    const Json* found = walk(object, path, path.size());
    if (found == nullptr) {
      hasher.word(static_cast<std::uint64_t>(Mark::absent));
    } else {
      hash_value(hasher, *found);
    }
  }
  return hasher.result();
}

Json without_paths(Json value, const std::vector<Path>& paths) {
  for (const Path& path : paths) {
    if (path.empty()) return nullptr;
    Json* parent = walk(value, path, path.size() - 1);
    if (parent != nullptr && parent->is_object()) parent->erase(path.back());
  }
  return value;
}

}  // namespace kubewatch::jq
