/* The smallest hook: notes when it started. Static, so that what is measured is the runner, not a loader.
   Appends "SEQ NANOSECONDS\n" (CLOCK_MONOTONIC) to $BENCH_LOG; prints nothing. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char* log = getenv("BENCH_LOG");
  const char* seq = getenv("SEQ");
  if (log == NULL || seq == NULL) return 1;
  char line[128];
  const int n = snprintf(line, sizeof line, "%s %lld\n", seq,
                         (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
  const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0) return 1;
  const ssize_t written = write(fd, line, (size_t)n);
  close(fd);
  return written == n ? 0 : 1;
}
