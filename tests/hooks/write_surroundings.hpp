// As little of a rule's surroundings as the writers of its children need, on a scripted server and
// a clock that jumps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hooks/output.hpp"
#include "hooks/write_context.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::test {

inline hooks::Manifest manifest(const core::Gvk& gvk, const std::string& plural,
                                const core::ObjectKey& key) {
  hooks::Manifest out;
  out.type.gvk = gvk;
  out.type.plural = plural;
  out.type.namespaced = !key.namespace_.empty();
  out.key = key;
  out.object = {
      {"apiVersion", gvk.api_version()}, {"kind", gvk.kind}, {"metadata", {{"name", key.name}}}};
  return out;
}

struct WriteSurroundings : hooks::WriteContext {
  WriteSurroundings() : client_(loop, transport, config()) {
    rule_.name = "web";
    rule_.apply.field_manager = "kubewatch/web";
    rule_.finalizer_name = "kubewatch.dev/web";
    owner_type_.gvk = {"demo.example.com", "v1", "Website"};
    owner_type_.plural = "websites";
  }
  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = "http://server.test";
    return out;
  }
  hooks::Owner owner() const { return {owner_type_.gvk, true, {"shop", "a"}, "u1", false}; }
  bool until(const std::function<bool()>& holds, Duration within = Duration{120'000}) {
    return loop.run_until(holds, within);
  }

  client::Client& client() override { return client_; }
  const hooks::Rule& rule() const override { return rule_; }
  const core::ResourceType& owner_type() const override { return owner_type_; }
  hooks::ChildMemory& memory() override { return memory_; }
  hooks::UnknownKinds& unknown_kinds() override { return unknown_kinds_; }
  std::optional<core::ObjectMeta> cached_child(const hooks::ChildId&) const override { return {}; }
  bool deletion_wakes(const hooks::ChildId&, const std::string&) const override { return false; }
  std::string owner_version(const hooks::Owner&) const override { return ""; }
  std::vector<hooks::FoundChild> cached_children(const std::string&) const override { return {}; }
  bool may_follow_another(const hooks::Owner&) const override { return false; }
  void with_unwatched_places(const hooks::Owner&, bool, bool referring_too,
                             std::function<void(Result<std::vector<Unwatched>>)> done) override {
    done(referring_too ? where_all_refer : std::vector<Unwatched>{});
  }
  void expect(const hooks::Owner&, const hooks::ChildId&, const core::ObjectMeta&) override {}
  void expect_gone(const hooks::Owner&, const hooks::ChildId&, const core::ObjectMeta&,
                   const core::ObjectMeta&) override {}
  void finalizer_patched(const hooks::Owner&, const std::string&) override {}
  void with_status_shape(TimePoint oldest,
                         std::function<void(const hooks::StatusShape&)> done) override {
    done(oldest >= renewed ? shape : old_shape);
  }

  loop::EventLoop loop{loop::VirtualClock{}};
  ScriptedTransport transport{loop};
  hooks::Rule rule_;
  std::vector<Unwatched> where_all_refer;
  // What the owner's kind is said to have, at `renewed` and later, and before.
  hooks::StatusShape shape{};
  hooks::StatusShape old_shape{};
  TimePoint renewed{};

 private:
  client::Client client_;
  core::ResourceType owner_type_;
  hooks::ChildMemory memory_;
  hooks::UnknownKinds unknown_kinds_;
};

}  // namespace kubewatch::test
