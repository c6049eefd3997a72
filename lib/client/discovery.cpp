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
    const bool known = std::any_of(out.begin(), out.end(), [&](const ResourceType& other) {
      return other.gvk.group == type.gvk.group && other.plural == type.plural;
    });
    if (member && !known) out.push_back(type);
  }
  return out;
}

}  // namespace kubewatch::client
