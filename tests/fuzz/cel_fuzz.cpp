// Whatever text comes as a rule: it is refused with a message or it runs to an end within its limit
// of cost, twice with the same outcome.
#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "cel/data_type.hpp"
#include "cel/program.hpp"

namespace {

using namespace kubewatch;
using cel::DataType;

// {"s": string, "n": int, "l": [int], "m": {string: string}}
struct World {
  World() {
    using Kind = cel::Type::Kind;
    add("s", DataType::Form::string, cel::simple(Kind::string), 100);
    add("n", DataType::Form::integer, cel::simple(Kind::integer), 0);
    auto integers = add("l", DataType::Form::list, cel::list_of(cel::simple(Kind::integer)), 10);
    integers->element = self.fields["n"].type;
    auto texts = add("m", DataType::Form::map,
                     cel::map_of(cel::simple(Kind::string), cel::simple(Kind::string)), 10);
    texts->element = self.fields["s"].type;
    self.form = DataType::Form::object;
    self.type = cel::object("selfType", &self);
    object = *base::parse_json(R"({"s": "a-b", "n": 3, "l": [1, 2, 3], "m": {"k": "v"}})");
  }

  std::shared_ptr<DataType> add(const char* name, DataType::Form form, cel::TypePtr type,
                                std::uint64_t most) {
    auto field = std::make_shared<DataType>();
    field->form = form;
    field->type = std::move(type);
    field->max_elements = most;
    self.fields[name] = {name, field};
    self.names[name] = name;
    return field;
  }

  DataType self;
  Json object;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto compiled = cel::compile(text, {{"self", world.self.type}}, world.self);
  if (!compiled.ok()) {
    if (compiled.error().message().empty()) std::abort();
    return 0;
  }
  const cel::Value variables[] = {cel::Value::from_json(world.object, world.self)};
  const auto first = compiled->program->run(variables, 100000);
  const auto second = compiled->program->run(variables, 100000);
  if (first.cost != second.cost || first.value.kind() != second.value.kind()) std::abort();
  return 0;
}
