// Inside the libjq process: reads requests, runs programs, writes outputs. The only user of libjq.
// It never returns to the code of the process it was forked from, and leaves by _exit only.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "jq/helper_protocol.hpp"

// Version 1.6 forgets to say that it is C.
extern "C" {
#include <jq.h>
#include <jv.h>
}

namespace kubewatch::jq {

namespace {

constexpr std::size_t kMemory = 512U << 20U;

bool read_all(int fd, void* out, std::size_t size) {
  auto* at = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t count = ::read(fd, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int fd, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::send(fd, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

void reply(int socket, HelperReply kind, std::string_view body = {}) {
  const HelperReplyHeader header{kind, static_cast<std::uint32_t>(body.size())};
  if (!write_all(socket, &header, sizeof header) || !write_all(socket, body.data(), body.size())) {
    ::_exit(0);
  }
}

std::string take_string(jv value) {
  std::string text(jv_string_value(value),
                   static_cast<std::size_t>(jv_string_length_bytes(jv_copy(value))));
  jv_free(value);
  return text;
}

// The words of an invalid value; as the jq command prints them.
std::string take_message(jv invalid) {
  jv message = jv_invalid_get_msg(invalid);
  if (jv_get_kind(message) == JV_KIND_STRING) return take_string(message);
  return "(not a string): " + take_string(jv_dump_string(message, 0));
}

class Programs {
 public:
  // Null when the text is no program; `error` then has libjq's words.
  jq_state* get(const std::string& text, std::string& error) {
    if (const auto it = programs_.find(text); it != programs_.end()) return it->second;
    jq_state* program = jq_init();
    if (program == nullptr) ::_exit(1);
    jq_set_error_cb(program, collect, &error);
    // Without these two libjq calls a null pointer.
    jq_set_input_cb(program, no_input, nullptr);
    jq_set_debug_cb(program, ignore, nullptr);
    jq_set_attr(program, jv_string("JQ_LIBRARY_PATH"), jv_array());
    const bool compiled = jq_compile(program, text.c_str()) != 0;
    // Errors at run time come back as values; what else libjq reports has no reader.
    jq_set_error_cb(program, ignore, nullptr);
    if (!compiled) {
      jq_teardown(&program);
      return nullptr;
    }
    if (programs_.size() >= kKeptPrograms) clear();
    programs_[text] = program;
    return program;
  }

 private:
  static void collect(void* data, jv message) {
    auto& all = *static_cast<std::string*>(data);
    if (!all.empty()) all += '\n';
    all += take_string(as_text(message));
  }
  static jv no_input(jq_state*, void*) { return jv_invalid(); }
  static void ignore(void*, jv message) { jv_free(message); }
  static jv as_text(jv message) {
    return jv_get_kind(message) == JV_KIND_STRING ? message : jv_dump_string(message, 0);
  }

  void clear() {
    for (auto& [text, program] : programs_) jq_teardown(&program);
    programs_.clear();
  }

  std::map<std::string, jq_state*> programs_;
};

void run(int socket, const HelperRequest& request, jq_state* program, const std::string& input) {
  jv value = jv_parse_sized(input.data(), static_cast<int>(input.size()));
  if (!jv_is_valid(value)) {
    reply(socket, HelperReply::failed, take_message(value));
    return;
  }
  jq_start(program, value, 0);
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;
  while (true) {
    jv result = jq_next(program);
    if (!jv_is_valid(result)) {
      const bool failed = jv_invalid_has_msg(jv_copy(result)) != 0;
      const std::string message = failed ? take_message(result) : std::string();
      if (!failed) jv_free(result);
      reply(socket, failed ? HelperReply::failed : HelperReply::done, message);
      return;
    }
    const std::string text = take_string(jv_dump_string(result, 0));
    bytes += text.size();
    if (++outputs > request.max_outputs || bytes > request.max_output_bytes) {
      reply(socket, HelperReply::limited);
      return;
    }
    reply(socket, HelperReply::output, text);
    if (request.first_only != 0) {
      reply(socket, HelperReply::done);
      return;
    }
  }
}

// Memory that is already mapped counts as well, so the limit is what the helper may add.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  unsigned long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + kMemory;
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

void isolate() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NAME, "kubewatch-jq");
  ::clearenv();
  // Otherwise libjq asks the user database for a home and loads ~/.jq from it.
  ::setenv("HOME", "/nonexistent", 1);
  limit_memory();
}

}  // namespace

void helper_main(int socket) {
  isolate();
  Programs programs;
  while (true) {
    HelperRequest request;
    if (!read_all(socket, &request, sizeof request)) ::_exit(0);
    std::string text(request.text_size, '\0');
    std::string input(request.input_size, '\0');
    if (!read_all(socket, text.data(), text.size())) ::_exit(0);
    if (!read_all(socket, input.data(), input.size())) ::_exit(0);
    std::string error;
    jq_state* program = programs.get(text, error);
    if (program == nullptr) {
      reply(socket, HelperReply::compile_error, error);
    } else if (request.input_size == 0) {
      reply(socket, HelperReply::done);
    } else {
      run(socket, request, program, input);
    }
  }
}

}  // namespace kubewatch::jq
