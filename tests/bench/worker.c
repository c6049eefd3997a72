/* The smallest worker: notes each invocation as hook.c does, and answers that all is well. Static. It reads no
   more of the line than its id. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  const char* log = getenv("BENCH_LOG");
  const int fd = log == NULL ? -1 : open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0) return 1;
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char text[256];
    int n = snprintf(text, sizeof text, "run %lld\n", (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
    if (write(fd, text, (size_t)n) != n) return 1;
    const char* id = strstr(line, "\"id\":\"");
    const char* end = id == NULL ? NULL : strchr(id + 6, '"');
    if (end == NULL) return 1;
    n = snprintf(text, sizeof text, "{\"id\":\"%.*s\"}\n", (int)(end - id - 6), id + 6);
    if (write(1, text, (size_t)n) != n) return 1;
  }
  return 0;
}
