// Which characters show something, as Go has it (strconv.IsPrint): what its %q escapes, and what
// its servers want in no name. No widths, no classes.
#pragma once

namespace kubewatch::base {

bool is_print(char32_t code);

}  // namespace kubewatch::base
