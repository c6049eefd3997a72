// Why a program could not be started, from the errno of chdir or execve and a look at the file.
#pragma once

#include <string>

#include "base/result.hpp"

namespace kubewatch::loop {

Error explain_exec(const std::string& path, const std::string& directory, int number);
Error explain_chdir(const std::string& directory, int number);

}  // namespace kubewatch::loop
