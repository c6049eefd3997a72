/* Runs a command once, from the smallest possible parent, and prints its figures as one line of JSON on
 * stderr: wall milliseconds, CPU milliseconds, peak RSS. With --lines N its stdout is read here and it
 * is killed once N lines came: for commands that never end by themselves.
 *
 *   bench_measure [--lines N] COMMAND...                              its stdout goes to /dev/null */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(struct timeval t) { return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3; }

static long count_lines(int fd, long wanted) {
  static char buffer[1 << 16];
  long lines = 0;
  ssize_t got;
  while (lines < wanted && (got = read(fd, buffer, sizeof(buffer))) > 0) {
    for (ssize_t i = 0; i < got; ++i) lines += buffer[i] == '\n';
  }
  return lines;
}

int main(int argc, char** argv) {
  long wanted = 0;
  int first = 1;
  if (argc > 3 && strcmp(argv[1], "--lines") == 0) {
    wanted = atol(argv[2]);
    first = 3;
  }
  if (first >= argc) return 2;
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (wanted > 0) {
    if (pipe2(ends, O_CLOEXEC) != 0) return 2;
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  const double begun = now_ms();
  pid_t pid = 0;
  if (posix_spawnp(&pid, argv[first], &actions, NULL, argv + first, environ) != 0) {
    fprintf(stderr, "{\"failed\":\"cannot run %s\"}\n", argv[first]);
    return 1;
  }
  long lines = 0;
  double wall = 0;
  if (wanted > 0) {
    close(ends[1]);
    lines = count_lines(ends[0], wanted);
    wall = now_ms() - begun;
    kill(pid, SIGKILL);
  }
  int status = 0;
  struct rusage usage;
  wait4(pid, &status, 0, &usage);
  if (wanted == 0) wall = now_ms() - begun;
  const int code = wanted > 0 ? (lines >= wanted ? 0 : 1) : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  fprintf(stderr, "{\"code\":%d,\"wall_ms\":%.3f,\"cpu_ms\":%.3f,\"rss_mb\":%.2f}\n", code, wall,
          cpu_ms(usage.ru_utime) + cpu_ms(usage.ru_stime), (double)usage.ru_maxrss / 1024);
  return 0;
}
