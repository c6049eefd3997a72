// Quantities, semantic versions, formats.
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

Value make(const base::Quantity& quantity) {
  return Value::with(Kind::quantity, new Quantity(quantity));
}

Value quantity(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto parsed = Quantity::parse(a[0].text());
  if (parsed) return make(*parsed);
  return Value::error(base::kNoQuantity);
}
Value is_quantity(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  return Value::boolean(Quantity::parse(a[0].text()).has_value());
}
Value sign(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::quantity)) return Value::no_such_overload();
  return Value::integer(a[0].as<Quantity>().sign());
}
Value is_integer(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::quantity)) return Value::no_such_overload();
  return Value::boolean(a[0].as<Quantity>().as_int64().has_value());
}
Value as_integer(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::quantity)) return Value::no_such_overload();
  const auto number = a[0].as<Quantity>().as_int64();
  return number ? Value::integer(*number) : Value::error("cannot convert value to integer");
}
Value as_float(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::quantity)) return Value::no_such_overload();
  return Value::real(a[0].as<Quantity>().as_double());
}

template <bool kPlus>
Value plus(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::quantity)) return Value::no_such_overload();
  const auto& left = a[0].as<Quantity>();
  if (!a[1].is(Kind::quantity) && !a[1].is(Kind::integer)) return Value::no_such_overload();
  const base::Quantity right =
      a[1].is(Kind::integer) ? Quantity::of(a[1].as_int()) : base::Quantity(a[1].as<Quantity>());
  return make(kPlus ? left.plus(right) : left.minus(right));
}

// Of two quantities or two versions.
std::optional<int> order(Arguments a) {
  if (a[0].is(Kind::quantity) && a[1].is(Kind::quantity)) {
    return a[0].as<Quantity>().compare(a[1].as<Quantity>());
  }
  if (a[0].is(Kind::semver) && a[1].is(Kind::semver)) {
    return a[0].as<Semver>().compare(a[1].as<Semver>());
  }
  return std::nullopt;
}
Value compare_to(Arguments a, const Prepared& /*prepared*/) {
  const auto found = order(a);
  return found ? Value::integer(*found) : Value::no_such_overload();
}
template <int kWanted>
Value is_order(Arguments a, const Prepared& /*prepared*/) {
  const auto found = order(a);
  return found ? Value::boolean(*found == kWanted) : Value::no_such_overload();
}

bool version_arguments(Arguments a) {
  return a[0].is(Kind::string) && (a.size() == 1 || a[1].is(Kind::boolean));
}
Value semver(Arguments a, const Prepared& /*prepared*/) {
  if (!version_arguments(a)) return Value::no_such_overload();
  auto parsed = Semver::parse(a[0].text(), a.size() == 2 && a[1].as_bool());
  if (!parsed.ok()) return Value::error(parsed.error().message());
  return Value::with(Kind::semver, new Semver(*parsed));
}
Value is_semver(Arguments a, const Prepared& /*prepared*/) {
  if (!version_arguments(a)) return Value::no_such_overload();
  return Value::boolean(Semver::parse(a[0].text(), a.size() == 2 && a[1].as_bool()).ok());
}
template <std::uint64_t Semver::*kPart>
Value version_part(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::semver)) return Value::no_such_overload();
  return Value::integer(static_cast<std::int64_t>(a[0].as<Semver>().*kPart));
}

Value validate(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::format) || !a[1].is(Kind::string)) return Value::no_such_overload();
  const auto problems = a[0].as<Format>().problems(a[1].text());
  return problems.empty() ? Value::none() : Value::some(string_list(problems));
}
Value named_format(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  if (!Format::known(a[0].text())) return Value::none();
  return Value::some(Value::with(Kind::format, new Format(a[0].text())));
}
template <const char* kName>
Value constant_format(Arguments /*a*/, const Prepared& /*prepared*/) {
  return Value::with(Kind::format, new Format(kName));
}

constexpr char kLabel[] = "dns1123Label", kSubdomain[] = "dns1123Subdomain",
               kOldLabel[] = "dns1035Label", kQualified[] = "qualifiedName",
               kLabelPrefix[] = "dns1123LabelPrefix", kSubdomainPrefix[] = "dns1123SubdomainPrefix",
               kOldLabelPrefix[] = "dns1035LabelPrefix", kLabelValue[] = "labelValue",
               kUri[] = "uri", kUuid[] = "uuid", kByte[] = "byte", kDate[] = "date",
               kDateTime[] = "datetime";

constexpr NamedImplementation kTable[] = {
    {"quantity", quantity},
    {"isQuantity", is_quantity},
    {"sign", sign},
    {"isInteger", is_integer},
    {"asInteger", as_integer},
    {"asApproximateFloat", as_float},
    {"add", plus<true>},
    {"sub", plus<false>},
    {"compareTo", compare_to},
    {"isGreaterThan", is_order<1>},
    {"isLessThan", is_order<-1>},
    {"semver", semver},
    {"isSemver", is_semver},
    {"major", version_part<&Semver::major>},
    {"minor", version_part<&Semver::minor>},
    {"patch", version_part<&Semver::patch>},
    {"validate", validate},
    {"format.named", named_format},
    {"format.dns1123Label", constant_format<kLabel>},
    {"format.dns1123Subdomain", constant_format<kSubdomain>},
    {"format.dns1035Label", constant_format<kOldLabel>},
    {"format.qualifiedName", constant_format<kQualified>},
    {"format.dns1123LabelPrefix", constant_format<kLabelPrefix>},
    {"format.dns1123SubdomainPrefix", constant_format<kSubdomainPrefix>},
    {"format.dns1035LabelPrefix", constant_format<kOldLabelPrefix>},
    {"format.labelValue", constant_format<kLabelValue>},
    {"format.uri", constant_format<kUri>},
    {"format.uuid", constant_format<kUuid>},
    {"format.byte", constant_format<kByte>},
    {"format.date", constant_format<kDate>},
    {"format.datetime", constant_format<kDateTime>},
};

}  // namespace

std::span<const NamedImplementation> kubernetes_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
