// The cells of ordinary Pods straight from their text: lists of Pods are the ones that are long.
// Whatever needs a longer look is left to printers.cpp; the two must say the same.
#include <fmt/format.h>

#include "apiserver/printers.hpp"
#include "apiserver/read_text.hpp"
#include "core/json_cut.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::apiserver {

namespace {

struct PodFacts {
  std::string_view name = "\"\"", phase = "\"\"", ip, node, nominated;  // literals, quotes included
  std::string created;
  std::size_t containers = 0;
  std::size_t ready = 0;
  bool has_ips = false;
  bool ordinary = true;
};

template <class Visit>
void each_item(std::string_view array, const Visit& visit) {
  core::JsonCursor text(array);
  if (!text.accept('[')) return;
  while (text.peek() != ']') {
    const std::string_view item = text.take_value().text;
    if (item.empty()) return;
    visit(item);
    if (!text.accept(',')) return;
  }
}

// Members of an object; what is broken ends it early, and was refused before it got here.
template <class Visit>
void each_member(std::string_view object, const Visit& visit) {
  (void)core::for_each_member(object, visit);
}

void read_metadata(std::string_view text, PodFacts& out) {
  each_member(text, [&](const core::JsonMember& member) {
    if (member.key == "name") out.name = member.value;
    if (member.key == "deletionTimestamp") out.ordinary = false;
    if (member.key == "creationTimestamp") {
      if (auto read = core::decode_json_string(member.value); read.ok()) out.created = *read;
    }
  });
}

void read_spec(std::string_view text, PodFacts& out) {
  each_member(text, [&](const core::JsonMember& member) {
    if (member.key == "nodeName") out.node = member.value;
    if (member.key == "initContainers" || member.key == "readinessGates") out.ordinary = false;
    if (member.key != "containers") return;
    each_item(member.value, [&](std::string_view) { ++out.containers; });
  });
}

void read_container(std::string_view text, PodFacts& out) {
  bool running = false;
  each_member(text, [&](const core::JsonMember& member) {
    if (member.key == "ready" && member.value == "true") ++out.ready;
    if (member.key == "restartCount" && member.value != "0") out.ordinary = false;
    if (member.key != "state") return;
    each_member(member.value,
                [&](const core::JsonMember& state) { running = state.key == "running"; });
  });
  if (!running) out.ordinary = false;
}

void read_status(std::string_view text, PodFacts& out) {
  each_member(text, [&](const core::JsonMember& member) {
    if (member.key == "phase") out.phase = member.value;
    if (member.key == "podIP") out.ip = member.value;
    if (member.key == "nominatedNodeName") out.nominated = member.value;
    if (member.key == "podIPs") out.has_ips = true;
    if (member.key == "reason" || member.key == "initContainerStatuses") out.ordinary = false;
    if (member.key == "conditions" && member.value.find("SchedulingGated") != std::string::npos) {
      out.ordinary = false;
    }
    if (member.key != "containerStatuses") return;
    each_item(member.value, [&](std::string_view container) { read_container(container, out); });
  });
}

std::string_view or_none(std::string_view literal) {
  return literal.size() <= 2 || literal.front() != '"' ? "\"<none>\"" : literal;
}

}  // namespace

bool append_pod_cells(std::string_view json, WallTime now, std::string& out) {
  PodFacts pod;
  each_member(json, [&](const core::JsonMember& member) {
    if (member.key == "metadata") read_metadata(member.value, pod);
    if (member.key == "spec") read_spec(member.value, pod);
    if (member.key == "status") read_status(member.value, pod);
  });
  if (!pod.ordinary || pod.created.empty()) return false;
  if (pod.ip.empty() && pod.has_ips) return false;
  fmt::format_to(std::back_inserter(out), R"([{},"{}/{}",{},"0","{}",{},{},{},"<none>"])", pod.name,
                 pod.ready, pod.containers, pod.phase, age_of(pod.created, now), or_none(pod.ip),
                 or_none(pod.node), or_none(pod.nominated));
  return true;
}

}  // namespace kubewatch::apiserver
