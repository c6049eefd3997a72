#include "e2e/stress_writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace kubewatch::e2e {

namespace {

constexpr int kObjectsPerKind = 80;
constexpr Duration kTick{20};

}  // namespace

Writers::Writers(World& world, int per_second, std::uint64_t seed)
    : world_(world), per_second_(per_second), random_(seed) {
  for (const char* kind : {"ConfigMap", "Website"}) {
    writes_[kind];
    for (int i = 0; i < kObjectsPerKind; ++i) {
      Object object;
      object.kind = kind;
      object.key = {world_.ns(), fmt::format("o{}", i)};
      objects_.push_back(std::move(object));
    }
    world_.type(kind);
  }
}

void Writers::start() {
  started_ = world_.loop().now();
  tick();
}

void Writers::tick() {
  timer_ = world_.loop().after(kTick, [this] { tick(); });
  const auto elapsed = (world_.loop().now() - started_).count();
  const auto due = static_cast<std::uint64_t>(elapsed * per_second_ / 1000);
  for (int tries = 0; begun_ < due && tries < 50; ++tries) {
    Object& object = objects_[random_.below(objects_.size())];
    if (object.busy) continue;
    ++begun_;
    write(object);
  }
  // What could not begin is made up for, but no more than a second of it.
  const auto most = static_cast<std::uint64_t>(per_second_);
  if (due > most) begun_ = std::max(begun_, due - most);
}

void Writers::write(Object& object) {
  object.busy = true;
  if (!object.exists) return create(object);
  if (random_.below(10) == 0) return remove(object);
  change(object);
}

void Writers::create(Object& object) {
  object.web = random_.below(2) == 0;
  Json body = {{"metadata",
                {{"name", object.key.name},
                 {"namespace", object.key.namespace_},
                 {"labels", {{"tier", object.web ? "web" : "db"}}}}}};
  const auto& type = world_.type(object.kind);
  body["apiVersion"] = type.gvk.api_version();
  body["kind"] = type.gvk.kind;
  if (object.kind == "ConfigMap") {
    body["data"] = {{"text", R"(quotes " and \ and {[ and ümläut)"}, {"n", "0"}};
  } else {
    body["spec"] = {{"title", "quotes \" and <tags>"}, {"replicas", 1}};
  }
  object.pending = world_.client().create(type, object.key.namespace_, body, {},
                                          [this, &object](Result<Json> result) {
                                            if (result.ok())
                                              return done(object, {}, &result.value());
                                            done(object, std::move(result).error(), nullptr);
                                          });
}

void Writers::change(Object& object) {
  if (random_.below(4) == 0) object.web = !object.web;
  Json patch = {{"metadata", {{"labels", {{"tier", object.web ? "web" : "db"}}}}}};
  const std::string value = std::to_string(++value_);
  if (object.kind == "ConfigMap") {
    patch["data"] = {{"n", value}, {"pad", std::string(random_.below(600), 'x')}};
  } else {
    patch["spec"] = {{"title", "t" + value}};
  }
  core::PatchParams params;
  params.field_manager = "stress";
  object.pending = world_.client().patch(world_.type(object.kind), object.key, patch, params,
                                         [this, &object](Result<client::ApplyResult> result) {
                                           if (result.ok())
                                             return done(object, {}, &result->object);
                                           done(object, std::move(result).error(), nullptr);
                                         });
}

void Writers::remove(Object& object) {
  object.pending = world_.client().remove(
      world_.type(object.kind), object.key, {}, [this, &object](Result<Json> result) {
        if (!result.ok()) return done(object, std::move(result).error(), nullptr);
        done(object, {}, nullptr);
      });
}

void Writers::done(Object& object, const Result<void>& result, const Json* written) {
  object.busy = false;
  if (result.ok()) {
    ++counts_.confirmed;
    object.exists = written != nullptr;
    if (written == nullptr) return;
    const auto version = base::string_at(*written, {"metadata", "resourceVersion"});
    writes_[object.kind].push_back({std::strtoull(version.c_str(), nullptr, 10), object.key});
    return;
  }
  const Error& error = result.error();
  if (error.is_not_found()) object.exists = false;
  if (error.is_already_exists()) object.exists = true;
  ++(error.is_not_found() || error.is_already_exists() || error.is_conflict() ? counts_.refused
                                                                              : counts_.lost);
}

}  // namespace kubewatch::e2e
