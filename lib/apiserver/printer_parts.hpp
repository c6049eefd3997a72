// What the cells of several built-in kinds are made of, in the words of kube-apiserver's
// pkg/printers/internalversion. Whatever an object looks like, there is a text. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/printers.hpp"
#include "base/json.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver::parts {

using Path = std::initializer_list<std::string_view>;

std::int64_t number(const Json& o, Path path, std::int64_t fallback = 0);
bool flag(const Json& o, Path path, bool fallback = false);
// `fallback` for what is absent, empty or no string.
std::string text(const Json& o, Path path, const char* fallback = "");
// Quantities, and numbers or texts: as they were written; `fallback` for what is absent.
std::string shown(const Json& o, Path path, const char* fallback);
std::size_t count(const Json& o, Path path);
bool exists(const Json& o, Path path);
inline bool deleting(const Json& o) {
  return exists(o, {"metadata", "deletionTimestamp"});
}

// Each item of a list; none where there is no list.
void each(const Json& o, Path path, const std::function<void(const Json& item)>& visit);
// One field of every item, or the items themselves.
std::vector<std::string> texts(const Json& o, Path path, Path field);
// The first condition of that type; null where there is none.
const Json* condition(const Json& o, std::string_view type);
bool condition_true(const Json& o, std::string_view type);

// "a=b,c=d" of a map, "<none>" of an empty one.
std::string pairs(const Json* map);
// matchLabels and matchExpressions; `empty` for one that chooses everything.
std::string selector(const Json* selector, const char* empty);
// "a,b,c + 2 more..." of these, where there are so many in all.
std::string few_of(const std::vector<std::string>& few, std::size_t all,
                   std::string_view separator = ",");
std::string first_few(std::vector<std::string> all, std::size_t most,
                      std::string_view separator = ",");
// Without duplicates, ordered.
std::vector<std::string> sorted_set(std::vector<std::string> texts);
// Addresses of status.loadBalancer: the IP of each point, or else its name.
std::string load_balancer(const Json& o);

// The name, with " (default)" where an annotation says so.
std::string default_name(const Json& o, std::string_view annotation);

// "5m" since the time at a path.
Json since(const Json& o, Path path, WallTime now);

using ColumnTable = std::map<std::string, std::vector<BuiltinColumn>>;

extern const BuiltinColumn kName;
extern const BuiltinColumn kAge;

// A cell from what is in sight as `o` and `now`.
#define KW_CELL(expression) \
  []([[maybe_unused]] const Json& o, [[maybe_unused]] WallTime now) -> Json { return expression; }

// Each in a file of its own.
void add_pods(ColumnTable& t);
void add_workloads(ColumnTable& t);
void add_network(ColumnTable& t);
void add_storage(ColumnTable& t);
void add_cluster(ColumnTable& t);
void add_policies(ColumnTable& t);

}  // namespace kubewatch::apiserver::parts
