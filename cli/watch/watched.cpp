#include "cli/watch/watched.hpp"

namespace kubewatch::cli::watch {

namespace {

Json parsed(const std::string& text) {
  auto value = base::parse_json(text);
  return value.ok() && value->is_object() ? std::move(*value) : Json::object();
}

}  // namespace

std::string_view event_name(runtime::ChangeType type) {
  switch (type) {
    case runtime::ChangeType::added: return "ADDED";
    case runtime::ChangeType::modified: return "MODIFIED";
    case runtime::ChangeType::deleted: return "DELETED";
  }
  return "UNKNOWN";
}

const Json& Event::object() const {
  if (!object_) object_ = parsed(change_.json);
  return *object_;
}

const Json* Event::before() const {
  if (change_.previous_json.empty()) return nullptr;
  if (!before_) before_ = parsed(change_.previous_json);
  return &*before_;
}

EventView Event::view() const {
  return {before(), &object(), std::string(event_name(change_.type)), change_.initial};
}

}  // namespace kubewatch::cli::watch
