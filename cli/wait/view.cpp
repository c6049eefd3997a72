#include "cli/wait/view.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string_view>

#include "base/strings.hpp"

namespace kubewatch::cli {

namespace {

using runtime::WaitedObject;
using runtime::WaitState;

constexpr std::size_t kLineObjects = 20;  // more of them are told as one line
constexpr Duration kLineEvery{1000};      // for one object whose state stays the same

struct Look {
  const char* word;
  const char* color;
};

Look look_of(WaitState state) {
  switch (state) {
    case WaitState::met: return {"met", "\x1b[32m"};
    case WaitState::failed:
    case WaitState::invalid:
    case WaitState::deleted: return {"failed", "\x1b[31m"};
    case WaitState::not_found: return {"absent", "\x1b[33m"};
    case WaitState::unknown: return {"asking", "\x1b[2m"};
    case WaitState::not_met: break;
  }
  return {"waiting", "\x1b[33m"};
}

// Cut by code points: a wide character may take two columns, a row that wraps would break the
// redraw, so the last column stays free.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) == 0x80U) continue;
    width += byte >= 0xE1U ? 2 : 1;
    if (width > columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

WaitViewMode wait_view_mode(bool quiet) {
  if (quiet) return WaitViewMode::none;
  const char* term = ::getenv("TERM");
  const bool dumb = term == nullptr || *term == '\0' || std::string_view(term) == "dumb";
  return ::isatty(STDERR_FILENO) != 0 && !dumb ? WaitViewMode::table : WaitViewMode::lines;
}

Screen screen_of_stderr(bool color) {
  Screen out;
  out.color = color;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) out.columns = size.ws_col;
    if (size.ws_row > 0) out.rows = size.ws_row;
  }
  return out;
}

bool several_namespaces(const std::vector<WaitedObject>& objects) {
  std::set<std::string_view> seen;
  for (const auto& object : objects) seen.insert(object.key.namespace_);
  seen.erase("");
  return seen.size() > 1;
}

std::string in_namespace(const WaitedObject& object, bool several) {
  const bool told = several && !object.key.namespace_.empty();
  return told ? " in namespace " + object.key.namespace_ : "";
}

std::string wait_table(const std::vector<WaitedObject>& objects, const std::string& head,
                       const Screen& screen) {
  const std::size_t columns = std::max<std::size_t>(screen.columns, 20) - 1;
  std::vector<const WaitedObject*> rows;
  for (const auto& object : objects) rows.push_back(&object);
  const std::size_t space = std::max<std::size_t>(screen.rows, 5) - 3;
  if (rows.size() > space) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return (a->state != WaitState::met) > (b->state != WaitState::met);
    });
    rows.resize(space);
  }
  const bool several = several_namespaces(objects);
  const auto name_of = [&](const WaitedObject* row) {
    return base::escape_for_terminal(row->str() + in_namespace(*row, several));
  };
  std::size_t widest = 4;
  for (const auto* row : rows) widest = std::max(widest, name_of(row).size());
  widest = std::min(widest, columns / 2);
  std::string out = cut(base::escape_for_terminal(head), columns) + "\n";
  for (const auto* row : rows) {
    const Look look = look_of(row->state);
    const std::string name = cut(name_of(row), widest);
    const std::string rest = cut(fmt::format("  {:<{}}  {}", name, widest,
                                             base::escape_for_terminal(row->judgement.current)),
                                 columns > 7 ? columns - 7 : 0);
    out += screen.color ? fmt::format("{}{:<7}\x1b[0m", look.color, look.word)
                        : fmt::format("{:<7}", look.word);
    out += rest + "\n";
  }
  if (rows.size() < objects.size()) {
    out += cut(fmt::format("... and {} more", objects.size() - rows.size()), columns) + "\n";
  }
  return out;
}

void WaitView::clear() {
  if (drawn_ == 0) return;
  err_ << "\x1b[" << drawn_ << "A\r\x1b[J" << std::flush;
  drawn_ = 0;
}

bool WaitView::update(const std::vector<WaitedObject>& objects, const std::string& head,
                      TimePoint now) {
  if (mode_ == WaitViewMode::none) return false;
  if (mode_ == WaitViewMode::lines) return lines(objects, head, now);
  const std::string text = wait_table(objects, head, screen_of_stderr(color_));
  clear();
  err_ << text << std::flush;
  drawn_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return false;
}

bool WaitView::lines(const std::vector<WaitedObject>& objects, const std::string& head,
                     TimePoint now) {
  bool held_back = false;
  const auto tell = [&](const std::string& key, WaitState state, const std::string& text) {
    const auto before = told_.find(key);
    if (before != told_.end() && before->second.text == text) return;
    if (before != told_.end() && before->second.state == state &&
        now - before->second.at < kLineEvery) {
      held_back = true;
      return;
    }
    told_[key] = {state, text, now};
    err_ << base::escape_for_terminal(text) << std::endl;
  };
  if (objects.size() > kLineObjects) {
    tell("", WaitState::not_met, head.substr(0, head.rfind(", ")));  // without the time
    return held_back;
  }
  const bool several = several_namespaces(objects);
  for (const auto& object : objects) {
    if (object.state == WaitState::unknown) continue;
    tell(object.key.namespace_ + "/" + object.str(), object.state,
         fmt::format("{}{}: {}: {}", object.str(), in_namespace(object, several),
                     look_of(object.state).word, object.judgement.current));
  }
  return held_back;
}

}  // namespace kubewatch::cli
