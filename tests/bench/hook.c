/* The smallest hook: notes when it started. Static, so that what is measured is the runner, not a loader.
   Appends "NAME NANOSECONDS\n" (of $KW_NAME, CLOCK_MONOTONIC) to $BENCH_LOG. Prints nothing; with the argument
   "child" one ConfigMap, child-NAME. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char* log = getenv("BENCH_LOG");
  const char* name = getenv("KW_NAME");
  if (log == NULL || name == NULL) return 1;
  char line[512];
  int n = snprintf(line, sizeof line, "%s %lld\n", name,
                   (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
  const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0) return 1;
  const ssize_t written = write(fd, line, (size_t)n);
  close(fd);
  if (written != n) return 1;
  if (argc > 1 && strcmp(argv[1], "child") == 0) {
    n = snprintf(line, sizeof line,
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"child-%s\","
                 "\"labels\":{\"child\":\"yes\"}},\"data\":{\"of\":\"%s\"}}\n",
                 name, name);
    if (n >= (int)sizeof line || write(1, line, (size_t)n) != n) return 1;
  }
  return 0;
}
