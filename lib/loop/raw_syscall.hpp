// A system call that touches nothing but registers: for code that runs in a child which shares our
// memory while we go on. What libc does beside the call, errno first of all, would be ours.
// Internal to spawn.cpp.
#pragma once

namespace kubewatch::loop {

// Of such a child: no instrumentation, which would write to what we both see.
#define KW_CHILD_CODE __attribute__((no_sanitize("address"), no_sanitize("undefined"), noinline))
#define KW_CHILD_INLINE \
  __attribute__((no_sanitize("address"), no_sanitize("undefined"), always_inline)) inline

// What the kernel answers: negative is -errno.
KW_CHILD_INLINE long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                 long e = 0) {
#if defined(__x86_64__)
  long answer = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  asm volatile("syscall"
               : "=a"(answer)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return answer;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
#else
#error "how this machine makes a system call is not known here"
#endif
}

KW_CHILD_INLINE long raw_address(const void* pointer) {
  return reinterpret_cast<long>(pointer);
}

// clone3, for which libc has no function: the child calls `run` on the stack that `arguments` name
// and never comes back from it. `arguments` is a clone_args of `size` bytes.
inline long raw_clone3(long number, const void* arguments, long size, int (*run)(void*),
                       void* argument) {
#if defined(__x86_64__)
  long answer = 0;
  register int (*r8)(void*) asm("r8") = run;
  register void* r9 asm("r9") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "mov %%r9, %%rdi\n\t"
      "call *%%r8\n\t"
      "ud2\n"
      "1:"
      : "=a"(answer)
      : "a"(number), "D"(arguments), "S"(size), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory", "cc");
  return answer;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = reinterpret_cast<long>(arguments);
  register long x1 asm("x1") = size;
  register int (*x9)(void*) asm("x9") = run;
  register void* x10 asm("x10") = argument;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x0, x10\n\t"
      "blr x9\n\t"
      "brk 0\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x9), "r"(x10)
      : "x30", "memory", "cc");
  return x0;
#else
#error "how this machine makes a system call is not known here"
#endif
}

}  // namespace kubewatch::loop
