// Where a test is about what may not be read: root reads everything, so the test stops being root.
#pragma once

#include <unistd.h>

#include <stdexcept>

namespace kubewatch::test {

// Files are opened as the user nobody while this lives, if they were opened as root before.
class AsNobody {
 public:
  AsNobody() : root_(::geteuid() == 0) {
    if (root_ && ::seteuid(65534) != 0) throw std::runtime_error("cannot become nobody");
  }
  ~AsNobody() {
    if (root_ && ::seteuid(0) != 0) ::_exit(1);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool root_;
};

}  // namespace kubewatch::test
