#include "e2e/stress_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "e2e/stress_json.hpp"

namespace kubewatch::e2e {

namespace {

constexpr std::size_t kNamedProblems = 5;

std::uint64_t number(const std::string& version) {
  return std::strtoull(version.c_str(), nullptr, 10);
}

std::map<std::string, std::string> state_of(const std::vector<std::string>& items) {
  std::map<std::string, std::string> out;
  for (const std::string& item : items) {
    const auto meta = core::parse_meta(item);
    out[meta.ok() ? meta->key().str() : "unreadable"] = without_managed_fields_and_type(item);
  }
  return out;
}

// The first difference, for people.
std::string difference(const std::map<std::string, std::string>& have,
                       const std::map<std::string, std::string>& want) {
  for (const auto& [key, text] : want) {
    const auto it = have.find(key);
    if (it == have.end()) return key + " is missing";
    if (it->second != text) return key + " is\n  " + it->second + "\ninstead of\n  " + text;
  }
  for (const auto& [key, text] : have) {
    if (want.count(key) == 0) return key + " should not be there: " + text;
  }
  return "";
}

}  // namespace

Reader::Reader(World& world, client::Client& proxied, base::Random& random, ReaderSpec spec)
    : world_(world), spec_(std::move(spec)) {
  runtime::ReflectorCallbacks callbacks;
  callbacks.on_change = [this](const runtime::StoreChange& change) { on_change(change); };
  callbacks.on_synced = [this](bool gap) { on_synced(gap); };
  callbacks.on_bookmark = [this](const std::string& version) {
    ++counts_.bookmarks;
    last_version_ = std::max(last_version_, number(version));
    compare(version);
  };
  reflector_.reset(new runtime::Reflector(proxied, world_.type(spec_.kind), world_.ns(),
                                          spec_.options, {}, random, std::move(callbacks)));
}

void Reader::problem(const std::string& what) {
  if (problems_.size() < kNamedProblems) problems_.push_back(spec_.name + ": " + what);
}

void Reader::on_change(const runtime::StoreChange& change) {
  using runtime::ChangeType;
  ++counts_.changes;
  const std::string key = change.meta.key().str();
  Told& told = told_[key];
  const std::uint64_t version = number(change.meta.resource_version);
  const bool added = change.type == ChangeType::added;
  const bool deleted = change.type == ChangeType::deleted;
  if (added == told.exists)
    problem(key + (added ? " was added twice" : " changed, but is unknown"));
  if (!added && change.meta.uid != told.uid) problem(key + " became another object in silence");
  // A deletion that a relist found carries the last known state.
  const bool in_order = deleted ? version >= told.version : version > told.version;
  if (!in_order) problem(fmt::format("{} went from {} to {}", key, told.version, version));
  if (!change.initial && !change.relisted) {
    if (version <= last_version_) {
      problem(fmt::format("event {} of {} came after {}", version, key, last_version_));
    }
    last_version_ = version;
  }
  if (!deleted) versions_[version] = key;
  told.exists = !deleted;
  told.uid = change.meta.uid;
  told.version = version;
  told.text = deleted ? "" : without_managed_fields_and_type(change.json);
}

void Reader::on_synced(bool gap) {
  const std::string version = reflector_->store().resource_version();
  if (gap) {
    ++counts_.gaps;
    gaps_.emplace_back(last_version_, number(version));
  } else {
    gaps_.emplace_back(0, number(version));  // before the first list nothing is told one by one
  }
  last_version_ = std::max(last_version_, number(version));
  compare(version);
}

Reader::State Reader::cached() const {
  State out;
  const auto& store = reflector_->store();
  for (const auto& key : store.keys()) {
    if (const auto object = store.get(key)) {
      out[key.str()] = without_managed_fields_and_type(object->json);
    }
  }
  return out;
}

Reader::State Reader::told() const {
  State out;
  for (const auto& [key, told] : told_) {
    if (told.exists) out[key] = told.text;
  }
  return out;
}

void Reader::compare(const std::string& resource_version) {
  State seen = cached();
  if (const std::string wrong = difference(told(), seen); !wrong.empty()) {
    problem("what was told is not what is cached at " + resource_version + ": " + wrong);
  }
  core::ListParams params;
  params.label_selector = spec_.options.label_selector;
  params.resource_version = resource_version;
  params.match = core::VersionMatch::exact;
  request_ = world_.client().list(
      world_.type(spec_.kind), world_.ns(), params,
      [this, resource_version, seen = std::move(seen)](const Result<client::ListResult>& result) {
        if (result.ok()) return compared(resource_version, seen, result->items);
        // Compacted; or the server is just away, when it was restarted.
        ++counts_.not_comparable;
        if (!result.error().is_gone() && !result.error().is_retryable()) {
          problem("the exact LIST failed: " + result.error().render());
        }
      });
}

void Reader::compared(const std::string& resource_version, const State& seen,
                      const std::vector<std::string>& items) {
  ++counts_.equal;
  if (const std::string wrong = difference(seen, state_of(items)); !wrong.empty()) {
    problem("the cache is not the exact LIST at " + resource_version + ": " + wrong);
  }
}

void Reader::check_all_told(const std::vector<Writers::Write>& writes) {
  const std::uint64_t newest = number(reflector_->store().resource_version());
  for (const auto& write : writes) {
    const bool in_gap = std::any_of(gaps_.begin(), gaps_.end(), [&](const auto& gap) {
      return write.version > gap.first && write.version <= gap.second;
    });
    if (in_gap || write.version > newest) continue;
    const auto it = versions_.find(write.version);
    if (it == versions_.end() || it->second != write.key.str()) {
      problem(fmt::format("the write {} of {} was never told", write.version, write.key.str()));
    }
  }
}

bool Reader::equals(const std::vector<std::string>& items) const {
  return difference(cached(), state_of(items)).empty();
}

}  // namespace kubewatch::e2e
