// Replaces known secret values by ***.
#include "hooks/secret_mask.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kShortest = 6;
constexpr std::size_t kMostValues = 20000;

}  // namespace

void SecretMask::insert(std::string_view value) {
  if (value.size() < kShortest) return;
  if (values_.size() >= kMostValues) {
    overflowed_ = true;
    return;
  }
  auto longer = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  std::string text(value);
  auto at = std::lower_bound(values_.begin(), values_.end(), text, longer);
  if (at == values_.end() || *at != text) values_.insert(at, std::move(text));
}

void SecretMask::add_value(std::string_view value) {
  value = base::trim(value);
  insert(value);
  if (value.find('\n') == std::string_view::npos) return;
  for (const std::string& line : base::split(value, '\n')) insert(base::trim(line));
}

// Of all that stands there, also where the API wants a map of texts: whoever refuses it quotes it.
void SecretMask::add_scalars(const Json& value, bool encoded) {
  if (value.is_structured()) {
    for (const Json& inner : value) add_scalars(inner, encoded);
    return;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : base::dump_json(value);
  add_value(text);
  if (!encoded) return add_value(base::base64_encode(text));
  if (auto decoded = base::base64_decode(text); decoded.ok()) add_value(*decoded);
}

// A misspelt `stringData` of a Secret holds what that would hold; other kinds have fields of their
// own.
void SecretMask::add_data(const Json& secret) {
  if (!secret.is_object()) return;
  const std::string api_version = base::string_at(secret, {"apiVersion"});
  const bool core =
      base::string_at(secret, {"kind"}) == "Secret" && (api_version.empty() || api_version == "v1");
  for (const auto& [key, value] : secret.items()) {
    const bool holds = key == "data" || key == "stringData";
    const bool known = key == "apiVersion" || key == "kind" || key == "metadata" || key == "type" ||
                       key == "immutable";
    if (holds || (core && !known)) add_scalars(value, key == "data");
  }
}

void SecretMask::add_object(const Json& object) {
  if (base::string_at(object, {"kind"}) != "Secret") return;
  add_data(object);
  const std::string applied =
      base::string_at(object, {"metadata", "annotations", kLastAppliedAnnotation});
  if (applied.empty()) return;
  if (const auto before = base::parse_json(applied); before.ok()) add_data(*before);
}

void SecretMask::add_json(std::string_view object_json) {
  if (object_json.find("\"Secret\"") == std::string_view::npos) return;
  if (auto object = base::parse_json(object_json); object.ok()) add_object(*object);
}

void SecretMask::merge(const SecretMask& other) {
  for (const std::string& value : other.values_) insert(value);
  overflowed_ = overflowed_ || other.overflowed_;
}

bool SecretMask::nearly_full() const {
  return overflowed_ || values_.size() > kMostValues / 2;
}

std::string SecretMask::mask(std::string_view text) const {
  if (overflowed_) return "(left out: more secrets than can be masked)";
  std::string out(text);
  for (const std::string& value : values_) {
    for (std::size_t at = out.find(value); at != std::string::npos; at = out.find(value, at + 3)) {
      out.replace(at, value.size(), "***");
    }
  }
  return out;
}

}  // namespace kubewatch::hooks
