// How many processes this machine starts per second: posix_spawn and wait, so many at a time, and
// nothing else. What bench_hooks is compared with.
//
//   bench_spawn SECONDS AT_A_TIME COMMAND [ARGUMENT...]
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: bench_spawn SECONDS AT_A_TIME COMMAND [ARGUMENT...]\n");
    return 2;
  }
  const double begun = seconds();
  const double limit = atof(argv[1]);
  const int width = atoi(argv[2]);
  long done = 0;
  int running = 0;
  do {
    while (running < width && seconds() - begun < limit) {
      pid_t pid = 0;
      if (posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ) != 0) {
        perror("bench_spawn");
        return 1;
      }
      ++running;
    }
    if (running > 0 && wait(NULL) > 0) {
      --running;
      ++done;
    }
  } while (running > 0);
  printf("%.0f/s\n", (double)done / (seconds() - begun));
  return 0;
}
