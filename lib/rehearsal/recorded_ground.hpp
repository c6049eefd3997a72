// What was there although no watch of a recording tells of it: namespaces that were written into,
// and objects that a Result patched or deleted. Recordings have those as they were first read;
// older ones lack them. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/rule.hpp"

namespace kubewatch::rehearsal {

class RecordedGround {
 public:
  // Every entry of the recording, in order.
  void note(const Json& entry);

  // The readings of single objects; what they say first was there from the beginning.
  bool is_reading(int stream) const { return readings_.count(stream) != 0; }
  // An entry of a reading whose object a watch tells of, sooner or later.
  bool is_told_by_watch(const Json& entry) const;
  // Namespaces of writes that were done, and those that the rules write into, unless the recording
  // says when they came, or that they were not there.
  std::set<std::string> namespaces(const std::vector<hooks::Rule>& rules) const;
  // What was patched or deleted, and neither made before by the controller nor told of.
  std::vector<hooks::ApiTarget> unknown() const;

 private:
  void note_write(const Json& entry);
  std::string id_in(const Json& entry) const;  // "" where it is of no object

  std::map<int, std::string> kinds_;  // of streams: "deployments.apps"
  std::set<int> readings_;
  std::set<std::string> told_;     // objects: "deployments.apps/shop/web"
  std::set<std::string> watched_;  // of them, what a watch tells of
  std::set<std::string> made_;     // by the recorded controller
  std::set<std::string> came_;     // namespaces that a watch tells of, or that were made
  std::set<std::string> written_;  // namespaces
  std::set<std::string> missing_;  // namespaces, or what was asked for in them
  std::map<std::string, hooks::ApiTarget> changed_;  // by the object: told_ decides at the end
};

}  // namespace kubewatch::rehearsal
