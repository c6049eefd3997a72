// Notices objects whose own writes run them again and again: the hook prints or sends something
// else each time, or somebody undoes what it wrote. They are slowed down, and told once with the
// paths that keep changing. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// What a run printed: "ConfigMap shop/a" -> the manifest; and what its hook has sent through the
// gateway: "PATCH of ConfigMap shop/a" -> the body.
using Printed = std::map<std::string, Json>;

// "ConfigMap shop/a: .data.time" for each place where they differ, at most `most`; never values.
std::vector<std::string> changes_of(const Printed& before, const Printed& after, std::size_t most);

struct LoopReport {
  std::vector<std::string> paths;  // empty: the hook prints the same each time
  bool compared = true;            // false: nothing that it printed or sent is known
  std::string text() const;        // a sentence for logs and Events
};

class LoopAlarm {
 public:
  LoopAlarm(std::size_t runs, Duration window) : limit_(runs), window_(window) {}

  // What woke a run: what runs of other objects of the rule have written; its children, which
  // others may have changed; the events of what its own runs have written; or somebody else for
  // certain. Where several did, the last of these counts.
  enum class Woken { by_rule, perhaps_by_itself, by_itself, by_others };
  // The end of a run; `changed`: it changed something. A run that changes nothing ends a loop, but
  // for one that only its own writes woke after a run that others may have caused: in a fight over
  // a child there is one of those between each two. A report once, when it is found to loop.
  std::optional<LoopReport> note(const core::ObjectKey& key, TimePoint now, Woken woken,
                                 bool changed, Printed printed);
  // Its printed manifests are worth keeping for note().
  bool wants_printed(const core::ObjectKey& key) const;
  // How long the next run that it causes itself is put off; 0 while it does not loop.
  Duration delay(const core::ObjectKey& key, TimePoint now) const;
  // What was found, while it is slowed down.
  std::optional<LoopReport> found(const core::ObjectKey& key, TimePoint now) const;
  void forget(const core::ObjectKey& key) { objects_.erase(key); }

 private:
  struct Entry {
    TimePoint since{};
    TimePoint last{};  // of those that count
    Woken last_woken = Woken::by_itself;
    std::size_t runs = 0;  // in the window
    std::size_t slowed = 0;
    bool looping = false;
    std::optional<Printed> printed;
    bool compared = false;  // two of them
    std::map<std::string, std::size_t> paths;
    LoopReport report;  // once it loops
  };
  bool loops(const Entry& entry, TimePoint now) const;

  std::size_t limit_;
  Duration window_;
  std::unordered_map<core::ObjectKey, Entry, core::ObjectKeyHash> objects_;
};

}  // namespace kubewatch::hooks
