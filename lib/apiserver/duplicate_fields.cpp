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

constexpr std::size_t kLongestOrdered = 1000;  // bytes of a sentence

std::string duplicate_field(std::string_view path) {
  return fmt::format("duplicate field \"{}\"", path);
}

// Listens to the parser and follows what it reads.
class Follower : public nlohmann::json_sax<Json> {
 public:
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
    return false;
  }
  bool key(string_t& name) override {
    levels_.back().step = (levels_.size() > 1 ? "." : "") + name;
    on_key(name, levels_.size() - 1);
    return true;
  }

 protected:
  // `depth`: of the object that has it, 0 for the outermost.
  virtual void on_key(const std::string& name, std::size_t depth) = 0;
  virtual void on_open() {}
  virtual void on_close() {}

  // Of the key at hand.
  std::string path() const {
    std::string out;
    for (const Level& one : levels_) out += one.step;
    return out;
  }
  std::size_t path_size() const {
    std::size_t out = 0;
    for (const Level& one : levels_) out += one.step.size();
    return out;
  }

 private:
  struct Level {
    bool array = false;
    std::size_t index = 0;
    std::string step;
  };

  bool value() {
    if (levels_.empty() || !levels_.back().array) return true;
    Level& level = levels_.back();
    level.step = fmt::format("[{}]", ++level.index);
    return true;
  }
  bool open(bool array) {
    if (levels_.size() >= kDeepestText) return false;
    levels_.push_back({array, 0, array ? "[0]" : ""});
    on_open();
    return true;
  }
  bool close() {
    levels_.pop_back();
    on_close();
    return value();
  }

  std::vector<Level> levels_;
};

// Remembers the keys of each object that is open.
class Repetitions : public Follower {
 public:
  std::vector<std::string> found;

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    found.clear();
    return false;
  }

 protected:
  void on_open() override { open_.emplace_back(); }
  void on_close() override { open_.pop_back(); }
  void on_key(const std::string& name, std::size_t depth) override {
    Keys& keys = open_[depth];
    if (!keys.all.insert(name).second && keys.told.insert(name).second) tell();
  }

 private:
  struct Keys {
    std::set<std::string> all;
    std::set<std::string> told;
  };

  // An object that is said twice may have what the first one had, and was told of.
  void tell() {
    if (found.size() >= kMost || text_ > kMostText) return;
    const std::string where = path();
    text_ += where.size();
    std::string sentence = duplicate_field(where);
    if (std::find(found.begin(), found.end(), sentence) == found.end()) {
      found.push_back(std::move(sentence));
    }
  }

  std::vector<Keys> open_;
  std::size_t text_ = 0;
};

// Meets the fields that sentences are about.
class Meeting : public Follower {
 public:
  explicit Meeting(const std::set<std::string>& wanted) : wanted_(wanted) {
    for (const std::string& one : wanted) longest_ = std::max(longest_, one.size());
  }
  std::vector<std::string> met;

 protected:
  void on_key(const std::string&, std::size_t) override {
    if (path_size() > longest_) return;
    const std::string where = path();
    meet(unknown_field(where));
    // It is a repetition when it is met again.
    const std::string again = duplicate_field(where);
    if (wanted_.count(again) != 0 && !seen_.insert(where).second) meet(again);
  }

 private:
  void meet(const std::string& sentence) {
    if (wanted_.count(sentence) != 0 && told_.insert(sentence).second) met.push_back(sentence);
  }

  const std::set<std::string>& wanted_;
  std::size_t longest_ = 0;
  std::set<std::string> seen_;
  std::set<std::string> told_;
};

// Whether a sentence is about the field of another one, or about what stands in it.
bool is_within(std::string_view duplicate, std::string_view unknown) {
  const std::string_view field = unknown.substr(unknown.find('"'));
  const std::string_view place = duplicate.substr(duplicate.find('"'));
  const std::string_view start = field.substr(0, field.size() - 1);  // without the quote at its end
  if (place.size() <= start.size() || !place.starts_with(start)) return false;
  const char next = place[start.size()];
  return next == '"' || next == '.' || next == '[';
}

}  // namespace

std::vector<std::string> duplicate_fields(std::string_view json) {
  Repetitions repetitions;
  Json::sax_parse(json.begin(), json.end(), &repetitions);
  return std::move(repetitions.found);
}

std::string unknown_field(std::string_view path) {
  return fmt::format("unknown field \"{}\"", path);
}

std::vector<std::string> faults_in_order(std::string_view json,
                                         const std::vector<std::string>& duplicates,
                                         const std::vector<std::string>& unknown) {
  std::vector<std::string> all;
  for (const std::string& one : duplicates) {
    const auto holds = [&](const std::string& field) { return is_within(one, field); };
    if (std::none_of(unknown.begin(), unknown.end(), holds)) all.push_back(one);
  }
  all.insert(all.end(), unknown.begin(), unknown.end());
  const auto is_long = [](const std::string& one) { return one.size() > kLongestOrdered; };
  if (all.size() < 2 || std::any_of(all.begin(), all.end(), is_long)) return all;
  const std::set<std::string> wanted(all.begin(), all.end());
  Meeting meeting(wanted);
  Json::sax_parse(json.begin(), json.end(), &meeting);
  std::vector<std::string> out = std::move(meeting.met);
  for (const std::string& one : all) {
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(one);
  }
  return out;
}

}  // namespace kubewatch::apiserver
