// What goes over the socket between us and the libjq process. Both ends are this binary: native
// byte order.
#pragma once

#include <cstdint>

namespace kubewatch::jq {

// Compiled programs that the helper keeps; it forgets all of them before one more.
inline constexpr std::size_t kKeptPrograms = 256;

struct HelperRequest {
  std::uint32_t text_size = 0;   // the program follows
  std::uint32_t input_size = 0;  // then the input as JSON; compile only when there is none
  std::uint32_t first_only = 0;  // not 0: nothing after the first output matters, not even errors
  std::uint32_t reserved = 0;
  std::uint64_t max_outputs = 0;
  std::uint64_t max_output_bytes = 0;
};

enum class HelperReply : std::uint32_t {
  output,         // one output as JSON; more may follow
  done,           // nothing follows
  failed,         // a jq error: its words
  compile_error,  // the program is wrong: libjq's words
  limited,        // an output limit was hit
};

struct HelperReplyHeader {
  HelperReply kind = HelperReply::done;
  std::uint32_t size = 0;  // bytes that follow
};

// The life of the process. Never returns; `socket` is its only open file besides /dev/null.
[[noreturn]] void helper_main(int socket);

}  // namespace kubewatch::jq
