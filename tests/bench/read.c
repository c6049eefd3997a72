// The limit of what a change can cost: one watch read with blocking SSL_read, the time taken out of
// each event that carries one, and nothing else; with a COMMAND, posix_spawn of it for each event
// and a wait. No JSON is parsed, nothing is kept, nothing is checked. What a program pays above
// this is its own; what is in it is the machine's, TLS's and the server's.
//
//   bench_read EVENTS HOST PORT TOKEN COLLECTION [COMMAND [ARGUMENT...]]
#define _GNU_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* const kSent = "\"bench.kubewatch.dev/sent\":\"";
enum { kBuffer = 1 << 20 };

static void fail(const char* what) {
  fprintf(stderr, "bench_read: %s\n", what);
  exit(1);
}

static long long nanoseconds_since_1970(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static SSL* connect_to(const char* host, const char* port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, port, &hints, &found) != 0) fail("no such host");
  const int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0) fail("cannot connect");
  freeaddrinfo(found);
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == NULL) fail("no TLS");
  SSL* ssl = SSL_new(context);
  // One system call for a record's head and its body: the least that a reader needs.
  SSL_set_read_ahead(ssl, 1);
  SSL_set_fd(ssl, fd);
  if (SSL_connect(ssl) != 1) fail("no TLS connection");
  return ssl;
}

static void ask(SSL* ssl, const char* host, const char* token, const char* path) {
  char text[1024];
  const int size = snprintf(text, sizeof text,
                            "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: kubewatch-bench\r\n"
                            "Accept: application/json\r\nAuthorization: Bearer %s\r\n\r\n",
                            path, host, token);
  if (size >= (int)sizeof text || SSL_write(ssl, text, size) != size) fail("cannot ask");
}

// The version of the collection, from a list of one item: its text is small and comes as a whole.
static void current_version(const char* host, const char* port, const char* token,
                            const char* collection, char* out) {
  static char answer[kBuffer];
  SSL* ssl = connect_to(host, port);
  char path[512];
  snprintf(path, sizeof path, "%s?limit=1", collection);
  ask(ssl, host, token, path);
  int size = 0;
  const char* version = NULL;
  while (version == NULL || strchr(version, ',') == NULL) {
    const int got = SSL_read(ssl, answer + size, kBuffer - 1 - size);
    if (got <= 0) fail("no list");
    size += got;
    answer[size] = 0;
    version = strstr(answer, "\"resourceVersion\":\"");
  }
  if (sscanf(version, "\"resourceVersion\":\"%31[0-9]\"", out) != 1) fail("a list without version");
}

static int ascending(const void* a, const void* b) {
  const long long x = *(const long long*)a, y = *(const long long*)b;
  return (x > y) - (x < y);
}

static void run(char** command) {
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, command[0], NULL, NULL, command, environ) != 0) fail("cannot spawn");
  if (waitpid(pid, &status, 0) != pid || status != 0) fail("the command failed");
}

int main(int argc, char** argv) {
  if (argc < 6) {
    fprintf(stderr,
            "usage: bench_read EVENTS HOST PORT TOKEN COLLECTION [COMMAND [ARGUMENT...]]\n");
    return 2;
  }
  const long wanted = atol(argv[1]);
  char** command = argc > 6 ? argv + 6 : NULL;
  char version[32], path[512];
  current_version(argv[2], argv[3], argv[4], argv[5], version);
  snprintf(path, sizeof path, "%s?watch=true&resourceVersion=%s", argv[5], version);
  SSL* ssl = connect_to(argv[2], argv[3]);
  ask(ssl, argv[2], argv[4], path);
  printf("{\"phase\":\"synced\"}\n");
  fflush(stdout);

  long long* lags = calloc((size_t)wanted + 1, sizeof *lags);
  static char buffer[kBuffer];
  int held = 0;
  long seen = 0;
  double first = 0;
  while (seen < wanted) {
    const int got = SSL_read(ssl, buffer + held, kBuffer - held);
    if (got <= 0) fail("the watch ended");
    held += got;
    // An event is one chunk of the answer for all but the largest, and its last byte a line feed.
    char* end = memrchr(buffer, '\n', (size_t)held);
    char* at = buffer;
    while (end != NULL && at < end) {
      char* next = (char*)memchr(at, '\n', (size_t)(end - at) + 1) + 1;
      char* sent = memmem(at, (size_t)(next - at), kSent, strlen(kSent));
      // With a command every event counts; its lines are those that begin an object.
      const int counts =
          command == NULL ? sent != NULL : memmem(at, (size_t)(next - at), "{\"type\":", 8) != NULL;
      at = next;
      if (!counts || seen == wanted) continue;
      if (seen == 0) first = cpu_seconds();
      lags[seen++] = sent == NULL ? 0 : nanoseconds_since_1970() - atoll(sent + strlen(kSent));
      if (command != NULL) run(command);
    }
    if (end != NULL) {
      held -= (int)(end + 1 - buffer);
      memmove(buffer, end + 1, (size_t)held);
    }
    if (held == kBuffer) fail("an event of a megabyte");
  }
  const double cpu = cpu_seconds() - first;
  qsort(lags, (size_t)seen, sizeof *lags, ascending);
  printf(
      "{\"phase\":\"events\",\"events\":%ld,\"cpu_us_per_event\":%.1f,\"lag_ms_p50\":%.3f,\"lag_ms_"
      "p99\":%.3f}\n",
      seen, cpu * 1e6 / (double)(seen > 1 ? seen - 1 : 1), (double)lags[(seen - 1) / 2] / 1e6,
      (double)lags[(long)((double)(seen - 1) * 0.99)] / 1e6);
  fflush(stdout);
  pause();
  return 0;
}
