// Lookups in what a server has. How it is fetched is discover.cpp.
#include "client/discovery.hpp"

#include <algorithm>
#include <array>

#include "base/strings.hpp"

namespace kubewatch::client {
namespace {

using core::ResourceType;

// A resource argument read one way. A group of nullopt is any group.
struct Reading {
  std::string name;
  std::optional<std::string> version;
  std::optional<std::string> group;
  bool group_prefix = false;  // "deployments.app" finds apps, when nothing fits better

  bool fits(const ResourceType& type) const {
    if (version && type.gvk.version != *version) return false;
    if (!group) return true;
    return group_prefix ? type.gvk.group.starts_with(*group) : type.gvk.group == *group;
  }
};

// kubectl's order: TYPE.VERSION.GROUP, TYPE.GROUP, TYPE.GROUPPREFIX.
std::vector<Reading> readings_of(const std::string& argument) {
  const std::size_t dot = argument.find('.');
  if (dot == std::string::npos) return {{argument, {}, {}, false}};
  std::vector<Reading> out;
  const std::string name = argument.substr(0, dot);
  const std::string rest = argument.substr(dot + 1);
  if (const std::size_t second = rest.find('.'); second != std::string::npos) {
    out.push_back({name, rest.substr(0, second), rest.substr(second + 1), false});
  }
  out.push_back({name, {}, rest, false});
  if (!rest.empty()) out.push_back({name, {}, rest, true});
  return out;
}

using NameTest = bool (*)(const ResourceType&, const std::string&);

// Best first: a short name of one kind never hides another kind's plural.
constexpr std::array<NameTest, 4> kNameTests = {
    [](const ResourceType& type, const std::string& name) {
      return base::to_lower(type.plural) == name;
    },
    [](const ResourceType& type, const std::string& name) {
      return base::to_lower(type.singular) == name;
    },
    [](const ResourceType& type, const std::string& name) {
      return std::any_of(type.short_names.begin(), type.short_names.end(),
                         [&](const std::string& s) { return base::to_lower(s) == name; });
    },
    [](const ResourceType& type, const std::string& name) {
      return base::to_lower(type.gvk.kind) == name;
    },
};

// The best version comes first: what comes later of the same name is an older one.
bool has_name_of(const std::vector<ResourceType>& found, const ResourceType& type) {
  return std::any_of(found.begin(), found.end(), [&](const ResourceType& other) {
    return other.gvk.group == type.gvk.group && other.plural == type.plural;
  });
}

}  // namespace

void ResourceMap::add(core::ResourceType type) {
  all_.push_back(std::move(type));
}

const ResourceType* ResourceMap::find(const core::Gvk& gvk) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const ResourceType& type) { return type.gvk == gvk; });
  return found == all_.end() ? nullptr : &*found;
}

const ResourceType* ResourceMap::find_kind(const std::string& group,
                                           const std::string& kind) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const ResourceType& type) {
    return type.gvk.group == group && type.gvk.kind == kind;
  });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<ResourceType> ResourceMap::resolve(std::string_view argument) const {
  const std::string wanted = base::to_lower(argument);
  if (wanted.empty()) return {};
  for (const Reading& reading : readings_of(wanted)) {
    for (const NameTest test : kNameTests) {
      const auto found = std::find_if(all_.begin(), all_.end(), [&](const ResourceType& type) {
        return reading.fits(type) && test(type, reading.name);
      });
      if (found != all_.end()) return {*found};
    }
  }
  std::vector<ResourceType> out;
  for (const ResourceType& type : all_) {
    const bool member =
        std::find(type.categories.begin(), type.categories.end(), wanted) != type.categories.end();
    if (member && !has_name_of(out, type)) out.push_back(type);
  }
  return out;
}

namespace {

void add_once(std::vector<std::string>& to, const std::string& text) {
  if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

}  // namespace

std::vector<std::string> ResourceMap::groups() const {
  std::vector<std::string> out;
  for (const ResourceType& type : all_) add_once(out, type.gvk.group);
  return out;
}

std::vector<std::string> ResourceMap::versions(const std::string& group) const {
  std::vector<std::string> out;
  for (const ResourceType& type : all_) {
    if (type.gvk.group == group) add_once(out, type.gvk.version);
  }
  return out;
}

bool ResourceMap::is_of_group(std::string_view failure, std::string_view group) {
  const std::string_view version = failure.substr(0, failure.find(':'));
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos ? group.empty() : version.substr(0, slash) == group;
}

bool ResourceMap::did_not_answer(const core::Gvk& gvk) const {
  return std::any_of(failed_groups.begin(), failed_groups.end(), [&](const auto& failure) {
    return failure.starts_with(gvk.api_version() + ":") ||
           (!gvk.group.empty() && is_of_group(failure, gvk.group));
  });
}

bool ResourceMap::group_did_not_answer(std::string_view word) const {
  const auto dot = word.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view place = word.substr(dot + 1);
  return std::any_of(failed_groups.begin(), failed_groups.end(), [&](const std::string& failure) {
    const std::string version = failure.substr(0, failure.find(':'));
    const auto slash = version.find('/');
    if (slash == std::string::npos) return false;
    const std::string group = version.substr(0, slash);
    return place == group || place.ends_with("." + group);
  });
}

Result<ResourceType> ResourceMap::pinned(const core::Gvk& gvk) const {
  if (const ResourceType* found = find(gvk)) return *found;
  const std::string api_version = gvk.api_version();
  for (const std::string& failure : failed_groups) {
    if (failure.starts_with(api_version + ":")) {
      return Error(ErrorKind::unavailable,
                   "whether there is a " + gvk.str() + " is not known: " + failure);
    }
  }
  std::vector<std::string> others;
  for (const ResourceType& type : all_) {
    const bool same = type.gvk.group == gvk.group && type.gvk.kind == gvk.kind;
    if (same) add_once(others, type.gvk.version);
  }
  return Error(ErrorKind::not_found,
               "the server has no " + gvk.str() +
                   (others.empty() ? "" : "; there is " + base::join(others, ", ")));
}

std::vector<ResourceType> ResourceMap::recommended(const std::string& group) const {
  const auto known = versions(group);
  std::vector<ResourceType> out;
  for (const ResourceType& type : all_) {
    if (type.gvk.group == group && type.gvk.version == known.front()) out.push_back(type);
  }
  return out;
}

std::vector<ResourceType> ResourceMap::kinds(const Filter& filter) const {
  std::vector<ResourceType> out;
  for (const ResourceType& type : all_) {
    const bool wanted = (!filter.group || type.gvk.group == *filter.group) &&
                        (!filter.namespaced || type.namespaced == *filter.namespaced) &&
                        std::all_of(filter.verbs.begin(), filter.verbs.end(),
                                    [&](const std::string& verb) { return type.has_verb(verb); });
    if (wanted && !has_name_of(out, type)) out.push_back(type);
  }
  return out;
}

void DiscoveryCache::get(Done done) {
  if (!latest_ || age() >= max_age_) return refresh(std::move(done));
  client_.loop().post([alive = std::weak_ptr(alive_), map = latest_, done = std::move(done)] {
    if (!alive.expired()) done(map);
  });
}

void DiscoveryCache::refresh(Done done) {
  waiting_.push_back(std::move(done));
  if (request_) return;
  request_ = discover(client_, [this](Result<Map> answer) { take(std::move(answer)); });
}

void DiscoveryCache::take(Result<Map> answer) {
  if (answer.ok()) {
    latest_ = *answer;
    taken_at_ = client_.loop().now();
  }
  const PendingPtr ended = std::move(request_);  // a waiting one may ask again
  const auto waiting = std::exchange(waiting_, {});
  const auto alive = std::weak_ptr(alive_);
  for (const Done& done : waiting) {
    if (alive.expired()) return;
    done(answer);
  }
}

}  // namespace kubewatch::client
