// Addresses, networks, URLs.
#include "cel/functions.hpp"
#include "cel/opaque.hpp"

namespace kubewatch::cel {

namespace {

using Kind = Value::Kind;
using Arguments = std::span<Value>;

Value make(const Address& address) {
  return Value::with(Kind::ip, new Address(address));
}
Value make(const Network& network) {
  return Value::with(Kind::cidr, new Network(network));
}

Value ip(Arguments a, const Prepared& /*prepared*/) {
  if (a[0].is(Kind::cidr)) return make(a[0].as<Network>().address);
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto parsed = Address::parse(a[0].text());
  return parsed.ok() ? make(*parsed) : Value::error(parsed.error().message());
}
Value is_ip(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  return Value::boolean(Address::parse(a[0].text()).ok());
}
Value is_canonical(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto parsed = Address::parse(a[0].text());
  if (!parsed.ok()) return Value::error(parsed.error().message());
  return Value::boolean(parsed->str() == a[0].text());
}
Value family(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::ip)) return Value::no_such_overload();
  return Value::integer(a[0].as<Address>().v4 ? 4 : 6);
}
template <bool (Address::*kAsk)() const>
Value ask(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::ip)) return Value::no_such_overload();
  return Value::boolean((a[0].as<Address>().*kAsk)());
}

Value cidr(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto parsed = Network::parse(a[0].text());
  if (parsed.ok()) return make(*parsed);
  return Value::error("network address parse error during conversion from string: " +
                      parsed.error().message());
}
Value is_cidr(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  return Value::boolean(Network::parse(a[0].text()).ok());
}
Value contains_ip(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::cidr)) return Value::no_such_overload();
  const Value other = a[1].is(Kind::string) ? ip(a.subspan(1, 1), prepared) : a[1];
  if (other.is_error()) return other;
  if (!other.is(Kind::ip)) return Value::no_such_overload();
  return Value::boolean(a[0].as<Network>().contains(other.as<Address>()));
}
Value contains_cidr(Arguments a, const Prepared& prepared) {
  if (!a[0].is(Kind::cidr)) return Value::no_such_overload();
  const Value other = a[1].is(Kind::string) ? cidr(a.subspan(1, 1), prepared) : a[1];
  if (other.is_error()) return other;
  if (!other.is(Kind::cidr)) return Value::no_such_overload();
  return Value::boolean(a[0].as<Network>().contains(other.as<Network>()));
}
Value prefix_length(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::cidr)) return Value::no_such_overload();
  return Value::integer(a[0].as<Network>().prefix);
}
Value masked(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::cidr)) return Value::no_such_overload();
  return make(a[0].as<Network>().masked());
}

Value url(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  const auto parsed = Url::parse(a[0].text());
  if (parsed.ok()) return Value::with(Kind::url, *parsed);
  return Value::error("URL parse error during conversion from string: " + parsed.error().message());
}
Value is_url(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::string)) return Value::no_such_overload();
  return Value::boolean(Url::valid(a[0].text()));
}
template <std::string Url::*kPart>
Value url_part(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::url)) return Value::no_such_overload();
  return Value::string(a[0].as<Url>().*kPart);
}
template <std::string (Url::*kPart)() const>
Value url_piece(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::url)) return Value::no_such_overload();
  return Value::string((a[0].as<Url>().*kPart)());
}
Value get_query(Arguments a, const Prepared& /*prepared*/) {
  if (!a[0].is(Kind::url)) return Value::no_such_overload();
  auto* out = new MapObject;
  for (const auto& [name, values] : a[0].as<Url>().parameters()) {
    out->insert(Value::string(name), string_list(values));
  }
  return map(out);
}

constexpr NamedImplementation kTable[] = {
    {"ip", ip},
    {"isIP", is_ip},
    {"ip.isCanonical", is_canonical},
    {"family", family},
    {"isUnspecified", ask<&Address::is_unspecified>},
    {"isLoopback", ask<&Address::is_loopback>},
    {"isLinkLocalMulticast", ask<&Address::is_link_local_multicast>},
    {"isLinkLocalUnicast", ask<&Address::is_link_local_unicast>},
    {"isGlobalUnicast", ask<&Address::is_global_unicast>},
    {"cidr", cidr},
    {"isCIDR", is_cidr},
    {"containsIP", contains_ip},
    {"containsCIDR", contains_cidr},
    {"prefixLength", prefix_length},
    {"masked", masked},
    {"url", url},
    {"isURL", is_url},
    {"getScheme", url_part<&Url::scheme>},
    {"getHost", url_part<&Url::host>},
    {"getHostname", url_piece<&Url::hostname>},
    {"getPort", url_piece<&Url::port>},
    {"getEscapedPath", url_part<&Url::path>},
    {"getQuery", get_query},
};

}  // namespace

std::span<const NamedImplementation> network_functions() {
  return kTable;
}

}  // namespace kubewatch::cel
