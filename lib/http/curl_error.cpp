// A table of the CURLcodes that users meet; the rest fall back to curl's own words.
#include "http/curl_error.hpp"

#include <openssl/x509_vfy.h>

#include <cerrno>
#include <cstring>

#include "base/time.hpp"

namespace kubewatch::http {

namespace {

Error unreachable(std::string message) {
  return Error(ErrorKind::unreachable, std::move(message));
}

Error disconnected(std::string message) {
  return unreachable(std::move(message)).as_disconnect();
}

// Whether there is no such name, or only nobody at this moment who knows it, libcurl does not tell.
Error unresolved(std::string message) {
  return unreachable(std::move(message)).as_unresolved();
}

std::string reason_of(const FailedTransfer& failed) {
  return failed.detail.empty() ? curl_easy_strerror(failed.code) : failed.detail;
}

bool mentions(const FailedTransfer& failed, const char* text) {
  return failed.detail.find(text) != std::string::npos;
}

std::string target(const FailedTransfer& failed) {
  return failed.proxy.empty() ? failed.host_port
                              : failed.host_port + " (through the proxy " + failed.proxy + ")";
}

// A handshake of ours that failed was that with the proxy: behind it there is none before it has
// answered CONNECT.
bool at_proxy(const FailedTransfer& failed) {
  long answered = 0;
  curl_easy_getinfo(failed.easy, CURLINFO_HTTP_CONNECTCODE, &answered);
  return failed.tls_proxy && answered == 0;
}

std::string tls_peer(const FailedTransfer& failed) {
  return at_proxy(failed) ? "the proxy " + failed.proxy : failed.host_port;
}

Error connect_failed(const FailedTransfer& failed) {
  long number = 0;
  curl_easy_getinfo(failed.easy, CURLINFO_OS_ERRNO, &number);
  if (number == ECONNREFUSED) return disconnected("connection to " + target(failed) + " refused");
  if (number == ENETUNREACH || number == EHOSTUNREACH) {
    return disconnected("no route to " + target(failed));
  }
  const std::string why = number != 0 ? std::strerror(static_cast<int>(number)) : reason_of(failed);
  return disconnected("cannot connect to " + target(failed) + ": " + why);
}

Error timed_out(const FailedTransfer& failed) {
  curl_off_t connected = 0;
  curl_easy_getinfo(failed.easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
  if (connected == 0) {
    const bool whole = !failed.streaming && failed.response_timeout > Duration::zero() &&
                       failed.response_timeout < failed.connect_timeout;
    const std::string message =
        "no connection to " + target(failed) + " within " +
        base::format_duration(whole ? failed.response_timeout : failed.connect_timeout);
    // The time may have gone for its name.
    curl_off_t resolved = 0;
    curl_easy_getinfo(failed.easy, CURLINFO_NAMELOOKUP_TIME_T, &resolved);
    return resolved == 0 ? unresolved(message) : disconnected(message);
  }
  return Error(ErrorKind::timeout, "no complete answer from " + target(failed) + " within " +
                                       base::format_duration(failed.response_timeout));
}

Error not_verified(const FailedTransfer& failed) {
  const std::string subject = "TLS: the certificate of " + tls_peer(failed);
  long verify = failed.verify_error;
  if (verify == 0) curl_easy_getinfo(failed.easy, CURLINFO_SSL_VERIFYRESULT, &verify);
  switch (verify) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return unreachable(subject + (failed.own_ca
                                        ? " is not signed by the configured CA"
                                        : " is not signed by a CA that this system trusts; "
                                          "configure " +
                                              failed.ca_setting));
    case X509_V_ERR_CERT_HAS_EXPIRED: return unreachable(subject + " has expired");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return unreachable(subject + " is not valid yet; check the clocks");
    case X509_V_ERR_INVALID_PURPOSE:
      return unreachable(subject + " is not meant for servers (extended key usage)");
    case X509_V_ERR_INVALID_CA:
      return unreachable(subject + " was signed by a certificate that is not a CA");
    default: break;
  }
  if (mentions(failed, "subject name") || mentions(failed, "target host name") ||
      mentions(failed, "ipv4 address") || mentions(failed, "ipv6 address")) {
    return unreachable(subject + " is for another host name: " + failed.detail);
  }
  return unreachable(subject + " was refused: " + reason_of(failed));
}

Error handshake_failed(const FailedTransfer& failed) {
  std::string message = "TLS handshake with " + tls_peer(failed) + " failed: " + reason_of(failed);
  if (mentions(failed, "wrong version number") || mentions(failed, "packet length too long")) {
    message += " (does it speak plain HTTP?)";
  }
  // Whoever stands in front of a server that is away takes the connection and drops it.
  const bool dropped = mentions(failed, "SSL_ERROR_SYSCALL") || mentions(failed, "reset by peer") ||
                       mentions(failed, "unexpected eof");
  return dropped ? disconnected(std::move(message)) : unreachable(std::move(message));
}

// Said by whoever was reached, who says the same the next time: a proxy that wants to know who
// asks, or a server that refuses the client certificate, which TLS 1.3 tells only after the
// handshake.
bool was_turned_away(const FailedTransfer& failed) {
  long answered = 0;
  curl_easy_getinfo(failed.easy, CURLINFO_HTTP_CONNECTCODE, &answered);
  return answered == 401 || answered == 403 || answered == 407 ||
         mentions(failed, "alert certificate") || mentions(failed, "alert bad certificate") ||
         mentions(failed, "alert unknown ca");
}

Error lost(const FailedTransfer& failed) {
  std::string message = "the connection to " + target(failed) + " was lost: " + reason_of(failed);
  return was_turned_away(failed) ? unreachable(std::move(message))
                                 : disconnected(std::move(message));
}

// What libcurl calls out of memory is mostly a limit of its buffers: 100 KiB for a line of headers,
// 1 MiB for what goes before the body of a request.
Error no_room(const FailedTransfer& failed) {
  long sent = 0;
  curl_easy_getinfo(failed.easy, CURLINFO_REQUEST_SIZE, &sent);
  const std::string what =
      sent > 0
          ? "a header of the answer of " + target(failed) + " has more than 100 KiB"
          : "the URL and the headers of the request to " + target(failed) + " have more than 1 MiB";
  return Error(ErrorKind::too_large, what + ", or there is no memory for it");
}

}  // namespace

Error describe(const FailedTransfer& failed) {
  switch (failed.code) {
    case CURLE_COULDNT_CONNECT: return connect_failed(failed);
    case CURLE_OPERATION_TIMEDOUT: return timed_out(failed);
    case CURLE_PEER_FAILED_VERIFICATION: return not_verified(failed);
    case CURLE_SSL_CONNECT_ERROR:
      return failed.verify_error != 0 ? not_verified(failed) : handshake_failed(failed);
    case CURLE_COULDNT_RESOLVE_HOST:
      return unresolved("cannot resolve the host name of " + failed.host_port);
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unresolved("cannot resolve the host name of the proxy " + failed.proxy);
    case CURLE_PROXY:
      return unreachable("the proxy " + failed.proxy + " failed: " + reason_of(failed));
    // It would have sent the request once more (Transfer::set_method_and_body).
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_GOT_NOTHING:
      return disconnected(target(failed) + " closed the connection without an answer");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: return lost(failed);
    case CURLE_WEIRD_SERVER_REPLY:
      return unreachable(target(failed) + " does not answer in HTTP/1.1: " + reason_of(failed));
    // Of the answer: other URLs than of http and https were refused before (parse_endpoint).
    case CURLE_UNSUPPORTED_PROTOCOL:
      // "HTTP/0.9" stands for no HTTP at all there.
      return unreachable(target(failed) + " does not answer in HTTP/1.1" +
                         (mentions(failed, "Received HTTP/0.9") ? "" : ": " + reason_of(failed)));
    case CURLE_URL_MALFORMAT:
      return Error(ErrorKind::invalid, "the URL of " + failed.host_port + " cannot be parsed");
    case CURLE_SSL_CERTPROBLEM:
      return Error(ErrorKind::invalid,
                   "TLS: the client certificate cannot be used: " + reason_of(failed));
    case CURLE_SSL_CACERT_BADFILE:
      return Error(ErrorKind::invalid, "TLS: the CA cannot be used: " + reason_of(failed));
    case CURLE_OUT_OF_MEMORY: return no_room(failed);
    default:
      return unreachable("the request to " + target(failed) + " failed: " + reason_of(failed));
  }
}

}  // namespace kubewatch::http
