// One text as what it differs in from another: for objects that were made from one template and
// differ in names, ids and times. Knows JSON's punctuation as places where two texts may meet
// again, nothing else of it. No I/O.
//
//   patch = count:varint { copy:varint skip:varint insert:varint }* inserted bytes
//
// Each step takes `copy` bytes from the base, leaves `skip` of it out and puts `insert` bytes in.
// What is left of the base after the last step is copied.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kubewatch::runtime {

// Always right; small only where the texts are alike.
std::string make_patch(std::string_view base, std::string_view text);
// Safe with any bytes: false when they are no patch that makes `size` bytes of this base.
bool apply_patch(std::string_view base, std::string_view patch, std::size_t size, std::string& out);

}  // namespace kubewatch::runtime
