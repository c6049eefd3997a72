#include "apiserver/duplicate_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kMost = 100;
constexpr std::size_t kMostText = 256U << 10U;  // of all paths; the last one may pass it
constexpr std::size_t kDeepestText = 512;       // deeper texts are refused by whoever parses them

// Listens to the parser: the path of what it reads, and the keys of each object that is open.
class Listener : public nlohmann::json_sax<Json> {
 public:
  std::vector<std::string> found;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    found.clear();
    return false;
  }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.step = (levels_.size() > 1 ? "." : "") + name;
    if (!level.keys.insert(name).second && level.told.insert(name).second) tell();
    return true;
  }

 private:
  struct Level {
    bool array = false;
    std::size_t index = 0;
    std::string step;
    std::set<std::string> keys;
    std::set<std::string> told;
  };

  // An object that is said twice may have what the first one had, and was told of.
  void tell() {
    if (found.size() >= kMost || text_ > kMostText) return;
    std::string path;
    for (const Level& one : levels_) path += one.step;
    text_ += path.size();
    std::string sentence = fmt::format("duplicate field \"{}\"", path);
    if (std::find(found.begin(), found.end(), sentence) == found.end()) {
      found.push_back(std::move(sentence));
    }
  }

  bool value() {
    if (levels_.empty() || !levels_.back().array) return true;
    Level& level = levels_.back();
    level.step = fmt::format("[{}]", ++level.index);
    return true;
  }
  bool open(bool array) {
    if (levels_.size() >= kDeepestText) return false;
    levels_.push_back({array, 0, array ? "[0]" : "", {}, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }

  std::vector<Level> levels_;
  std::size_t text_ = 0;
};

}  // namespace

std::vector<std::string> duplicate_fields(std::string_view json) {
  Listener listener;
  Json::sax_parse(json.begin(), json.end(), &listener);
  return std::move(listener.found);
}

}  // namespace kubewatch::apiserver
