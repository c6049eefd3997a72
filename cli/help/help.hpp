// How --help looks: usage, the command's page, its flags, the exit status; global flags and topics
// only on the top page.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace kubewatch::cli {

std::shared_ptr<CLI::FormatterBase> make_help_formatter();

}  // namespace kubewatch::cli
