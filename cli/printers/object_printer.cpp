// Which format prints how. Tables are made in table_view.cpp.
#include "cli/printers/object_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/strings.hpp"
#include "base/utf8.hpp"
#include "base/yaml.hpp"
#include "cli/caret.hpp"
#include "cli/printers/custom_columns.hpp"
#include "cli/printers/sort_by.hpp"
#include "cli/printers/table_view.hpp"
#include "cli/quoted_values.hpp"
#include "core/json_template.hpp"
#include "core/meta.hpp"
#include "core/server_fields.hpp"
#include "jq/jq.hpp"

namespace kubewatch::cli {

namespace {

using Kind = OutputFormat::Kind;

// jq says "... at character 7"; the caret stands there.
Result<jq::Program> compile_jq(const std::string& text) {
  auto program = jq::Program::compile(text);
  if (program.ok() || program.error().kind() != ErrorKind::invalid) return program;
  const std::string what = program.error().message();
  const auto at = place_in(what);
  if (!at) return std::move(program).error().with_context("-o jq");
  return Error(ErrorKind::invalid, with_caret("-o jq: " + what, text, *at));
}

Result<core::JsonTemplate> parse_template(const std::string& text) {
  std::size_t at = 0;
  auto parsed = core::JsonTemplate::parse(text, &at);
  if (parsed.ok()) return parsed;
  if (parsed.error().kind() != ErrorKind::invalid) return parsed;
  return Error(ErrorKind::invalid,
               with_caret("-o jsonpath: " + parsed.error().message(), text, at));
}

Json list_of(std::vector<Json> items) {
  return {{"apiVersion", "v1"},
          {"kind", "List"},
          {"items", std::move(items)},
          {"metadata", {{"resourceVersion", ""}}}};
}

}  // namespace

const Json& PrintedObject::value() const {
  if (value_ != nullptr) return *value_;
  if (!parsed_) {
    auto parsed = base::parse_json(bytes_);
    parsed_ = std::make_shared<const Json>(parsed.ok() ? std::move(parsed).value() : Json());
  }
  return *parsed_;
}

core::ObjectMeta PrintedObject::meta() const {
  if (value_ != nullptr || parsed_) return core::meta_of(value());
  auto meta = core::parse_meta(bytes_);
  return meta.ok() ? std::move(meta).value() : core::ObjectMeta();
}

struct ObjectPrinter::Impl {
  PrintFlags flags;
  PrinterSetup setup;
  OutputFormat format;
  ColumnBook columns;
  TableView table;
  std::optional<SortBy> sort_by;
  std::optional<core::JsonTemplate> jsonpath;
  std::optional<jq::Program> program;
  std::optional<CustomColumns> custom;
  TextTable custom_table;
  bool headers_done = false;

  Impl(const PrintFlags& given, PrinterSetup how, OutputFormat what)
      : flags(given),
        setup(std::move(how)),
        format(std::move(what)),
        table(flags, setup, format.kind == Kind::wide, columns) {}

  // As the user gets to see it, without what was not asked for.
  Json shown(const PrintedObject& object) const {
    const Json& value = object.value();
    Json out = flags.show_managed_fields ? value : without_managed_fields(value);
    if (!out.is_object()) return out;
    // Items of built-in lists lack their own.
    if (!out.contains("apiVersion")) out["apiVersion"] = object.type().gvk.api_version();
    if (!out.contains("kind")) out["kind"] = object.type().gvk.kind;
    return out;
  }

  // Bytes that need nothing done to them: a stream of thousands must not be parsed to be printed.
  bool as_sent(std::string_view bytes) const {
    if (bytes.empty() || bytes.find('\n') != std::string_view::npos) return false;
    if (!flags.show_managed_fields && bytes.find("managedFields") != std::string_view::npos) {
      return false;
    }
    const auto meta = core::parse_meta(bytes);
    return meta.ok() && !meta->api_version.empty() && !meta->kind.empty();
  }

  Result<void> prepare() {
    if (format.kind == Kind::jsonpath) {
      KW_ASSIGN(jsonpath, parse_template(format.text));
    } else if (format.kind == Kind::jq) {
      KW_ASSIGN(program, compile_jq(format.text));
    } else if (format.kind == Kind::custom_columns) {
      KW_ASSIGN(custom, CustomColumns::of_format(format.text));
      custom_table.start(custom->headers());
    }
    if (!flags.sort_by.empty()) {
      KW_ASSIGN(sort_by, SortBy::parse(flags.sort_by));
    }
    return {};
  }

  Result<void> print_template(std::ostream& out, const Json& value) const {
    core::JsonTemplate::Limits limits;
    limits.allow_missing = flags.allow_missing;
    auto text = jsonpath->render(value, limits);
    if (!text.ok()) {
      return without_quoted_values(std::move(text).error(), value).with_context("-o jsonpath");
    }
    out << shown_text(*text, setup.terminal);
    return {};
  }

  Result<void> print_jq(std::ostream& out, const Json& value) const {
    auto results = program->run(value);
    if (!results.ok()) {
      return without_quoted_values(std::move(results).error(), value).with_context("-o jq");
    }
    for (const auto& one : *results) {
      if (one.is_string()) {
        out << shown_text(one.get_ref<const std::string&>(), setup.terminal) << "\n";
      } else {
        out << shown_json(base::dump_json(one)) << "\n";
      }
    }
    return {};
  }

  void print_custom(std::ostream& out, const std::vector<const Json*>& objects) {
    std::vector<std::vector<std::string>> rows;
    if (!headers_done && !flags.no_headers) custom_table.measure_headers();
    for (const Json* object : objects) rows.push_back(custom->cells(*object));
    for (const auto& row : rows) custom_table.measure(row);
    if (!std::exchange(headers_done, true) && !flags.no_headers) {
      out << custom_table.render_headers();
    }
    for (const auto& row : rows) out << custom_table.render(row);
  }

  Result<void> print_whole(std::ostream& out, const Json& value) const {
    if (format.kind == Kind::json) {
      out << shown_json(value.dump(4, ' ', false, Json::error_handler_t::replace)) << "\n";
    } else if (format.kind == Kind::yaml) {
      out << shown_text(base::dump_yaml(value), setup.terminal);
    } else if (format.kind == Kind::jsonpath) {
      return print_template(out, value);
    } else if (format.kind == Kind::jq) {
      return print_jq(out, value);
    }
    return {};
  }

  Result<std::vector<PrintedObject>> sorted(const std::vector<PrintedObject>& objects) const {
    if (!sort_by) return objects;
    std::vector<const Json*> values;
    for (const auto& one : objects) values.push_back(&one.value());
    KW_ASSIGN(const auto order, sort_by->order(values));
    std::vector<PrintedObject> out;
    for (const std::size_t at : order) out.push_back(objects[at]);
    return out;
  }

  void print_names(std::ostream& out, const std::vector<PrintedObject>& objects) const {
    for (const auto& one : objects) {
      out << base::escape_for_terminal(object_name(one.type(), one.meta().name)) << "\n";
    }
  }
};

ObjectPrinter::ObjectPrinter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ObjectPrinter::~ObjectPrinter() = default;

Result<std::unique_ptr<ObjectPrinter>> ObjectPrinter::make(const PrintFlags& flags,
                                                           PrinterSetup setup) {
  if (!flags.template_.empty()) {
    return Error(
        ErrorKind::invalid,
        "--template: Go templates are not supported; write -o jsonpath='{...}', -o jq='...' "
        "or -o custom-columns=... instead");
  }
  KW_ASSIGN(auto format, parse_output_format(flags.output, flags.own));
  return make(std::move(format), flags, std::move(setup));
}

Result<std::unique_ptr<ObjectPrinter>> ObjectPrinter::make(OutputFormat format,
                                                           const PrintFlags& flags,
                                                           PrinterSetup setup) {
  auto impl = std::make_unique<Impl>(flags, std::move(setup), std::move(format));
  KW_TRY(impl->prepare());
  return std::unique_ptr<ObjectPrinter>(new ObjectPrinter(std::move(impl)));
}

const OutputFormat& ObjectPrinter::format() const {
  return impl_->format;
}
bool ObjectPrinter::is_table() const {
  return impl_->format.kind == Kind::table || impl_->format.kind == Kind::wide;
}
ColumnBook& ObjectPrinter::columns() {
  return impl_->columns;
}

Result<void> ObjectPrinter::print_list(std::ostream& out, const std::vector<PrintedObject>& objects,
                                       bool single, WallTime now) {
  KW_ASSIGN(const auto sorted, impl_->sorted(objects));
  if (is_table()) {
    impl_->table.print(out, sorted, now);
    return {};
  }
  if (impl_->format.kind == Kind::name) {
    impl_->print_names(out, sorted);
    return {};
  }
  if (impl_->format.kind == Kind::custom_columns) {
    std::vector<const Json*> values;
    for (const auto& one : sorted) values.push_back(&one.value());
    impl_->print_custom(out, values);
    return {};
  }
  if (single && sorted.size() == 1) return impl_->print_whole(out, impl_->shown(sorted.front()));
  std::vector<Json> items;
  for (const auto& one : sorted) items.push_back(impl_->shown(one));
  return impl_->print_whole(out, list_of(std::move(items)));
}

Result<void> ObjectPrinter::print_one(std::ostream& out, const PrintedObject& object, WallTime now,
                                      const std::vector<std::string>& leading) {
  if (is_table()) {
    impl_->table.append(out, object, now, leading);
    return {};
  }
  switch (impl_->format.kind) {
    case Kind::name: impl_->print_names(out, {object}); return {};
    case Kind::custom_columns: impl_->print_custom(out, {&object.value()}); return {};
    case Kind::json:
      if (impl_->as_sent(object.bytes())) {
        out << shown_json(object.bytes()) << "\n";
      } else {
        out << shown_json(base::dump_json(impl_->shown(object))) << "\n";
      }
      return {};
    case Kind::yaml:
      out << shown_text(base::dump_yaml(impl_->shown(object)), impl_->setup.terminal) << "---\n";
      return {};
    default: return impl_->print_whole(out, impl_->shown(object));
  }
}

void ObjectPrinter::measure(const PrintedObject& object, WallTime now,
                            const std::vector<std::string>& leading) {
  if (is_table()) {
    impl_->table.measure(object, now, leading);
  } else if (impl_->format.kind == Kind::custom_columns) {
    impl_->custom_table.measure(impl_->custom->cells(object.value()));
  }
}

std::string object_name(const core::ResourceType& type, std::string_view name) {
  std::string out = type.gvk.kind.empty() ? type.plural : base::to_lower(type.gvk.kind);
  if (!type.gvk.group.empty()) out += "." + type.gvk.group;
  return name.empty() ? out : fmt::format("{}/{}", out, name);
}

Json without_managed_fields(Json object) {
  core::drop_metadata(object, {"managedFields"});
  return object;
}

std::string shown_text(std::string_view text, const Terminal& terminal) {
  return terminal.tty ? base::escape_for_terminal(text, true) : std::string(text);
}

std::string shown_json(std::string_view json) {
  const auto harmless = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (std::all_of(json.begin(), json.end(), harmless)) return std::string(json);
  // Control characters are escaped already: what is left stands inside of strings.
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto c = base::next_utf8(json, at);
    const std::string_view raw = json.substr(at, c.size);
    at += c.size;
    if (!c.valid) {
      out += "\\ufffd";
    } else if (c.code < 0x7f || base::escape_for_terminal(raw) == raw) {
      out += raw;
    } else if (c.code <= 0xffff) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.code));
    } else {
      const auto rest = static_cast<std::uint32_t>(c.code) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
    }
  }
  return out;
}

}  // namespace kubewatch::cli
