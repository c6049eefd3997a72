#include "cli/watch/writers.hpp"

#include <algorithm>
#include <utility>

#include "schema/managed_entries.hpp"

namespace kubewatch::cli::watch {

namespace {

using schema::FieldSet;
using schema::PathElement;

// Whether an element of a field set names this step of the object at hand.
bool names(const PathElement& element, const FieldStep& step, const Json& value) {
  if (const auto* key = std::get_if<std::string>(&step)) {
    return element.kind == PathElement::Kind::field && element.field == *key;
  }
  switch (element.kind) {
    case PathElement::Kind::field: return false;
    case PathElement::Kind::index:
      return element.index == static_cast<std::int64_t>(std::get<std::size_t>(step));
    case PathElement::Kind::value: return element.json == value;
    case PathElement::Kind::key:
      if (!value.is_object()) return false;
      for (const auto& [name, wanted] : element.json.items()) {
        const auto found = value.find(name);
        if (found == value.end() || *found != wanted) return false;
      }
      return true;
  }
  return false;
}

const Json* step_into(const Json& value, const FieldStep& step) {
  if (const auto* key = std::get_if<std::string>(&step)) {
    if (!value.is_object()) return nullptr;
    const auto found = value.find(*key);
    return found == value.end() ? nullptr : &*found;
  }
  const std::size_t at = std::get<std::size_t>(step);
  return value.is_array() && at < value.size() ? &value[at] : nullptr;
}

// The set has the field, something below it, or a whole that it is part of.
bool owns(const FieldSet& fields, const Json& object, const std::vector<FieldStep>& steps) {
  const FieldSet* set = &fields;
  const Json* at = &object;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    at = step_into(*at, steps[i]);
    if (at == nullptr) return false;
    const FieldSet* child = nullptr;
    for (const auto& [element, below] : set->children()) {
      if (names(element, steps[i], *at)) child = &below;
    }
    const bool last = i + 1 == steps.size();
    if (child == nullptr || last) {
      const auto& members = set->members();
      const bool member = std::any_of(members.begin(), members.end(), [&](const auto& element) {
        return names(element, steps[i], *at);
      });
      return member || (last && child != nullptr);
    }
    set = child;
  }
  return false;
}

Writer writer_of(const schema::ManagedEntry& entry) {
  return {entry.manager, entry.applied ? "Apply" : "Update", entry.subresource, entry.time};
}

schema::Managed managed_of(const Json& object) {
  auto decoded = schema::decode_managed(schema::managed_fields_of(object));
  return decoded.ok() ? *std::move(decoded) : schema::Managed{};
}

}  // namespace

std::string Writer::text() const {
  std::string out = manager + " (" + operation;
  if (!subresource.empty()) out += " of " + subresource;
  return out + ")";
}

Json Writer::json() const {
  Json out = {{"manager", manager}, {"operation", operation}};
  if (!subresource.empty()) out["subresource"] = subresource;
  if (!time.empty()) out["time"] = time;
  return out;
}

struct Writers::Impl {
  const Json* before_object;
  const Json& after_object;
  schema::Managed before;
  schema::Managed after;
  std::vector<const schema::ManagedEntry*> newer;
};

Writers::Writers(const Json* before, const Json& after)
    : impl_(std::make_unique<Impl>(Impl{before, after, {}, {}, {}})) {
  if (before != nullptr) impl_->before = managed_of(*before);
  impl_->after = managed_of(after);
  for (const auto& [identity, entry] : impl_->after) {
    const auto old = impl_->before.find(identity);
    // Who only lost fields, to somebody that took them, has written nothing.
    if (old == impl_->before.end() || old->second.time != entry.time ||
        !entry.fields.is_subset_of(old->second.fields)) {
      impl_->newer.push_back(&entry);
    }
  }
  std::stable_sort(impl_->newer.begin(), impl_->newer.end(),
                   [](const auto* a, const auto* b) { return a->time > b->time; });
}

Writers::~Writers() = default;

std::optional<Writer> Writers::of(const FieldChange& change) const {
  const std::vector<FieldStep>& steps = change.steps;
  if (change.after) {
    for (const auto* entry : impl_->newer) {
      if (owns(entry->fields, impl_->after_object, steps)) return writer_of(*entry);
    }
  } else if (impl_->before_object != nullptr) {
    // Who owned it and has written since gave it up; else whoever else wrote took it away.
    for (const auto* entry : impl_->newer) {
      const auto old = impl_->before.find(entry->identity());
      if (old != impl_->before.end() && owns(old->second.fields, *impl_->before_object, steps)) {
        return writer_of(*entry);
      }
    }
  }
  if (impl_->newer.size() == 1) return writer_of(*impl_->newer.front());
  if (!impl_->newer.empty() || !change.after) return std::nullopt;
  return owner_of(steps);
}

// A second write within the second that times are told in leaves its entry as it was.
std::optional<Writer> Writers::owner_of(const std::vector<FieldStep>& steps) const {
  const schema::ManagedEntry* newest = nullptr;
  for (const auto& [identity, entry] : impl_->after) {
    if (!owns(entry.fields, impl_->after_object, steps)) continue;
    if (newest == nullptr || entry.time > newest->time) newest = &entry;
  }
  return newest == nullptr ? std::nullopt : std::optional(writer_of(*newest));
}

std::vector<Writer> Writers::latest() const {
  std::vector<Writer> out;
  for (const auto* entry : impl_->newer) out.push_back(writer_of(*entry));
  return out;
}

}  // namespace kubewatch::cli::watch
