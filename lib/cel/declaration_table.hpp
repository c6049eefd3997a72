// The declarations as a table of texts; declarations.cpp reads it.
#pragma once

#include <vector>

namespace kubewatch::cel {

struct DeclarationRow {
  const char* function;
  const char* id;
  const char* arguments;  // a leading dot: called on the first one
  const char* result;
};

const std::vector<DeclarationRow>& declaration_rows();

}  // namespace kubewatch::cel
