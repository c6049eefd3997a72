// What is kept of handled objects over a restart, as text: a header and one line of a checksum and
// a JSON record for each change; later lines win. Whatever was cut off or damaged ends what counts:
// the rest is dropped and said to be. Pure: text in, text out; files are state_store's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

constexpr std::size_t kMaxWhy = 1000;

// One object as one controller last left it.
struct HandledObject {
  std::string uid;
  std::string hash;     // of all that its run depended on; keyed
  bool parked = false;  // permanent failure, or its attempts are used up
  // When its hook wanted to run again, milliseconds since 1970; 0 = not by itself.
  std::int64_t due = 0;
  // When its last run began, as `due`: what the clock counts from. 0 = not known, as in the files
  // of versions that did not keep it.
  std::int64_t ran = 0;
  // Of a parked one how its last run ended, for people: "permanent: no such plan". Masked, and at
  // most kMaxWhy characters, which a line holds.
  std::string why;
  // "Website.demo.dev", whatever its version: the rule may have been for another kind under the
  // same name. "" = not known, as in the files of versions that did not keep it.
  std::string kind = {};
  bool operator==(const HandledObject&) const = default;
};

// Known, so that its deletion is seen, and to run in any case: no mark equals an empty hash.
HandledObject to_be_handled(std::string kind, std::string uid, std::int64_t ran = 0);

struct StateKey {
  std::string controller;
  core::ObjectKey object;
  auto operator<=>(const StateKey&) const = default;
};

using HandledObjects = std::map<StateKey, HandledObject>;

// With the newline. Absent: it is forgotten.
std::string state_line(const StateKey& key, const std::optional<HandledObject>& handled);
std::string state_header();
// Header and a line for each.
std::string state_text(const HandledObjects& objects);

struct LoadedState {
  HandledObjects objects;
  std::size_t lines = 0;  // records read, also those that later ones replace
  std::size_t valid = 0;  // bytes that count; what follows is to be cut off
  std::string damage;     // what was wrong with the rest; "" = nothing
};
// Errors: invalid (not a state file, or of another version): nothing of it can be used.
Result<LoadedState> load_state(std::string_view text);

}  // namespace kubewatch::hooks
