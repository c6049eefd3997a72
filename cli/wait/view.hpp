// How a wait is shown while it lasts, on stderr: a table that is drawn anew on a terminal, a line
// for each change elsewhere. What is drawn is made by pure functions.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "runtime/wait_judge.hpp"

namespace kubewatch::cli {

enum class WaitViewMode { none, lines, table };
// A table where stderr is a terminal that can move its cursor.
WaitViewMode wait_view_mode(bool quiet);

struct Screen {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool color = false;
};
Screen screen_of_stderr(bool color);

// Of more than one: then a name alone does not say which object it is.
bool several_namespaces(const std::vector<runtime::WaitedObject>& objects);
// " in namespace shop"; "" where there is none, or one for all.
std::string in_namespace(const runtime::WaitedObject& object, bool several);

// Never wider or higher than the screen; objects that are not met come first when they do not all
// fit. Escaped; ends with a newline.
std::string wait_table(const std::vector<runtime::WaitedObject>& objects, const std::string& head,
                       const Screen& screen);

class WaitView {
 public:
  WaitView(std::ostream& err, WaitViewMode mode, bool color)
      : err_(err), mode_(mode), color_(color) {}

  // `head`: "waiting for ready: 1 of 3 objects are as asked, 3s of 30s".
  // True: something was held back, so that lines can be read; ask again a second later.
  bool update(const std::vector<runtime::WaitedObject>& objects, const std::string& head,
              TimePoint now);
  // Takes the table away.
  void clear();
  bool draws() const { return mode_ == WaitViewMode::table; }

 private:
  bool lines(const std::vector<runtime::WaitedObject>& objects, const std::string& head,
             TimePoint now);

  struct Told {
    runtime::WaitState state;
    std::string text;
    TimePoint at;
  };
  std::ostream& err_;
  const WaitViewMode mode_;
  const bool color_;
  std::size_t drawn_ = 0;  // lines
  std::map<std::string, Told> told_;
};

}  // namespace kubewatch::cli
