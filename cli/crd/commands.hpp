// crd-gen and its subcommands, each defined in its verbs/ file. Apart from command.hpp, which
// every verb includes.
#pragma once

#include <memory>

#include "cli/command.hpp"

namespace kubewatch::cli {

std::unique_ptr<Command> make_crd_gen();

std::unique_ptr<Command> make_crd_gen_import();
std::unique_ptr<Command> make_crd_gen_lint();
std::unique_ptr<Command> make_crd_gen_diff();
std::unique_ptr<Command> make_crd_gen_merge();
std::unique_ptr<Command> make_crd_gen_validate();
std::unique_ptr<Command> make_crd_gen_sample();
std::unique_ptr<Command> make_crd_gen_docs();

}  // namespace kubewatch::cli
