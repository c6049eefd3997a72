// What libcurl reports, as sentences that name the server and say what to do.
#pragma once

#include <curl/curl.h>

#include <string>

#include "base/result.hpp"
#include "http/message.hpp"

namespace kubewatch::http {

struct FailedTransfer {
  CURL* easy = nullptr;
  CURLcode code = CURLE_OK;
  std::string detail;     // curl's error buffer
  std::string host_port;  // of the URL
  std::string proxy;      // host:port, or ""
  bool tls_proxy = false;
  long verify_error = 0;   // of the certificate that was refused, where tls_proxy
  bool own_ca = false;     // a CA was configured, so the system's are not asked
  std::string ca_setting;  // which would configure one
  bool streaming = false;
  Duration connect_timeout{0};
  Duration response_timeout{0};
};

Error describe(const FailedTransfer& failed);

}  // namespace kubewatch::http
