// Header lists: a handful of entries, so a linear search is the fast one.
#include "http/message.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"

namespace kubewatch::http {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return base::to_lower(x) == base::to_lower(y); });
}

}  // namespace

void Headers::add(std::string name, std::string value) {
  all_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string name, std::string value) {
  std::erase_if(all_, [&name](const auto& header) { return same_name(header.first, name); });
  add(std::move(name), std::move(value));
}

std::string_view Headers::get(std::string_view name) const {
  for (const auto& [key, value] : all_) {
    if (same_name(key, name)) return value;
  }
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::any_of(all_.begin(), all_.end(),
                     [name](const auto& header) { return same_name(header.first, name); });
}

Result<void> ask_admission(Request& request) {
  if (!request.admit) return {};
  KW_ASSIGN(const Duration most, request.admit());
  if (most.count() <= 0) return {};
  const Duration own = request.response_timeout;
  request.response_timeout = own.count() > 0 ? std::min(own, most) : most;
  request.connect_timeout = std::min(request.connect_timeout, most);
  return {};
}

}  // namespace kubewatch::http
