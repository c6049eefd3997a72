#include "apiserver/passed_documents.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kPerDocument = 256;  // beside its texts
constexpr std::size_t kMostDocuments = 1000;
constexpr std::size_t kLongestKey = 4096;

std::size_t cost_of(const std::string& key, const http::Response& answer) {
  std::size_t out = kPerDocument + key.size() + answer.body.size();
  for (const auto& [name, value] : answer.headers.all()) out += name.size() + value.size();
  return out;
}

}  // namespace

void PassedDocuments::drop(KeptDocuments::iterator one) {
  bytes_ -= cost_of(one->first, one->second.answer);
  kept_.erase(one);
}

void PassedDocuments::keep(const std::string& key, http::Response answer, TimePoint asked) {
  const std::size_t cost = cost_of(key, answer);
  if (answer.status != 200 || key.size() > kLongestKey || cost > most_bytes_) return;
  if (const auto old = kept_.find(key); old != kept_.end()) drop(old);
  bytes_ += cost;
  kept_[key] = {std::move(answer), asked};
  while (bytes_ > most_bytes_ || kept_.size() > kMostDocuments) {
    drop(std::min_element(kept_.begin(), kept_.end(),
                          [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
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
