// What the parts of check_crd share: where findings go, and the rules that have files of their own.
// Private to crd_*.cpp.
#pragma once

#include <string>

#include "schema/crd_check.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::schema {

class Report {
 public:
  explicit Report(Findings& findings) : findings_(findings) {}
  // More than can be told (kMostTold) is not kept.
  void add(const char* id, FieldError error) {
    if (told_ > 2 * kMostTold) return;
    told_ += error.field.size() + error.message.size();
    findings_.push_back({id, std::move(error)});
  }
  std::size_t size() const { return findings_.size(); }
  Findings& findings() { return findings_; }

 private:
  Findings& findings_;
  std::size_t told_ = 0;  // bytes
};

void check_crd_names(const Json& crd, Report& report);
// What the names that are there look like; `path` is that of `names`.
void check_name_shapes(const Json& names, const std::string& path, Report& report);
// `named`: the name is looked at, too; an update has its from the path.
void check_crd_group(const Json& crd, bool named, Report& report);
void check_api_approval(const Json& crd, const Json* live, Report& report);
void check_crd_update(const Json& crd, const Json& live, Report& report);
void check_crd_stored_versions(const Json& crd, const Json* live, Report& report);
void check_conversion(const Json& spec, Report& report);
void check_deprecation(const Json& version, const std::string& path, Report& report);
void check_scale(const Json& subresources, const std::string& path, Report& report);
void check_columns(const Json& columns, const std::string& path, Report& report);
void check_selectable_fields(const Json& fields, const Structural* schema, const std::string& path,
                             Report& report);

// Why the server cannot read the schema as a structural one at all; "" where it can.
std::string why_unreadable(const Structural& root);

// One schema: keywords, list and map types, rules of CEL as text. `path` is that of
// openAPIV3Schema.
void check_schema_keywords(const Structural& root, const std::string& path, Report& report);
void check_defaults(const Structural& root, const std::string& path, const RuleChecker* rules,
                    Report& report);

}  // namespace kubewatch::schema
