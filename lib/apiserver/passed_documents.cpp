#include "apiserver/passed_documents.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::apiserver {

void PassedDocuments::keep(const std::string& key, http::Response answer, TimePoint now) {
  if (answer.status != 200 || answer.body.size() > most_bytes_) return;
  if (const auto old = kept_.find(key); old != kept_.end()) {
    bytes_ -= old->second.answer.body.size();
    kept_.erase(old);
  }
  bytes_ += answer.body.size();
  kept_[key] = {std::move(answer), now};
  while (bytes_ > most_bytes_) {
    const auto oldest =
        std::min_element(kept_.begin(), kept_.end(),
                         [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
    bytes_ -= oldest->second.answer.body.size();
    kept_.erase(oldest);
  }
}

const http::Response* PassedDocuments::any(const std::string& key) const {
  const auto it = kept_.find(key);
  return it == kept_.end() ? nullptr : &it->second.answer;
}

const http::Response* PassedDocuments::fresh(const std::string& key, TimePoint now) const {
  const auto it = kept_.find(key);
  if (it == kept_.end()) return nullptr;
  const TimePoint at = it->second.at;
  return at + fresh_for_ <= now || at < doubted_until_ ? nullptr : &it->second.answer;
}

bool is_passed_document(const std::string& path) {
  if (path == "/version" || path == "/version/" || path.starts_with("/openapi/")) return true;
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.pop_back();
  const auto parts = base::split(trimmed.substr(1), '/');
  if (parts[0] == "api") return parts.size() <= 2;
  return parts[0] == "apis" && parts.size() <= 3;
}

}  // namespace kubewatch::apiserver
