#include "cel/functions.hpp"

#include <map>

namespace kubewatch::cel {

Implementation find_implementation(std::string_view function) {
  static const auto kAll = [] {
    std::map<std::string_view, Implementation> all;
    for (const auto table :
         {operator_functions(), conversion_functions(), string_functions(), time_functions(),
          list_functions(), optional_functions(), kubernetes_functions(), network_functions()}) {
      for (const auto& one : table) all[one.name] = one.run;
    }
    return all;
  }();
  const auto found = kAll.find(function);
  return found == kAll.end() ? nullptr : found->second;
}

}  // namespace kubewatch::cel
