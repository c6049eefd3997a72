// How many objects a second the schema library takes as a server does: read, pruned, given
// defaults, validated with their rules. bench_validate CRD.json OBJECT.json SECONDS prints one line
// of JSON. One thread; the time is its CPU's.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "schema/compiled_schema.hpp"
#include "schema/rule_checker.hpp"

using namespace kubewatch;

namespace {

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_validate CRD.json OBJECT.json SECONDS\n");
    return 2;
  }
  const auto crd = base::parse_json(text_of(argv[1]));
  const std::string text = text_of(argv[2]);
  if (!crd.ok()) {
    std::fprintf(stderr, "bench_validate: %s\n", crd.error().render().c_str());
    return 1;
  }
  const Json* root = base::find((*crd)["spec"]["versions"][0], {"schema", "openAPIV3Schema"});
  const auto schema = schema::CompiledSchema::of(*root, &schema::rule_checker(), {});
  if (!schema.ok()) {
    std::fprintf(stderr, "bench_validate: %s\n", schema.error().render().c_str());
    return 1;
  }
  const double wanted = std::atof(argv[3]);
  double reading = 0, shaping = 0, validating = 0;
  std::size_t objects = 0;
  for (const double begun = cpu_seconds(); cpu_seconds() - begun < wanted; ++objects) {
    const double at = cpu_seconds();
    auto object = base::parse_json(text);
    const double read = cpu_seconds();
    if (!(*schema)->prune(*object).empty()) return 1;
    (*schema)->apply_defaults(*object);
    const double shaped = cpu_seconds();
    schema::FieldErrors errors;
    (*schema)->validate(*object, nullptr, errors);
    if (!errors.empty()) {
      std::fprintf(stderr, "bench_validate: %s\n", schema::sentence(errors[0]).c_str());
      return 1;
    }
    validating += cpu_seconds() - shaped;
    shaping += shaped - read;
    reading += read - at;
  }
  const auto rate = [&](double seconds) { return double(objects) / seconds; };
  std::printf("{\"validated\":%.0f,\"and_shaped\":%.0f,\"and_read\":%.0f,\"bytes\":%zu}\n",
              rate(validating), rate(validating + shaping), rate(validating + shaping + reading),
              text.size());
  return 0;
}
