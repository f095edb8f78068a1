// A GPU for scan.cu on the host: the threads of a block are fibers that take
// turns, so that barriers and exchanges between lanes mean what they mean on
// the device. One block runs after the other, in an order drawn from a seed.
//
// A fiber is begun once and then plays a thread of each block. Fibers take turns
// by longjmp: swapcontext would set the signal mask each time, a system call that
// takes ten times as long as all that the kernels do.
#pragma once
#undef _FORTIFY_SOURCE  // which takes a longjmp to another stack for a mistake
#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace host {

const unsigned kLanes = 32, kStack = 64 << 10;

struct Dim { unsigned x; };

// Meeting is a barrier of n fibers that comes back to its start by itself.
struct Meeting {
  unsigned n, here, round;
  int any, before;  // or of what the fibers brought, in this round and the last
};

struct Fiber {
  jmp_buf at;
  std::vector<char> stack;  // empty until it has begun
  bool done;                // with the thread of this block
};

struct Block {
  jmp_buf scheduler;
  std::vector<Fiber> fibers;
  Meeting all;
  std::vector<Meeting> warps;
  std::vector<char> exchange;  // 256 bytes for each fiber
  void (*work)(const void*);
  const void* params;
  unsigned steps;  // barriers reached and fibers ended, ever
};

inline Block block;

}  // namespace host

inline host::Dim threadIdx, blockIdx, blockDim, gridDim;

namespace host {

// leave lets the scheduler go on until it comes back to the fiber.
inline void leave(Fiber& f) {
  if (!_setjmp(f.at)) _longjmp(block.scheduler, 1);
}

inline void yield() {
  unsigned me = threadIdx.x;
  leave(block.fibers[me]);
  threadIdx.x = me;
}

// meet waits for the other fibers and returns the or of what all brought.
inline int meet(Meeting& m, int bring) {
  unsigned round = m.round;
  block.steps++;
  m.any |= bring;
  if (++m.here == m.n) {
    m.before = m.any;
    m.here = m.any = 0;
    m.round++;
  }
  while (m.round == round) yield();
  return m.before;
}

// down gives the v of the lane d further on, as __shfl_down_sync does.
template <class T>
inline T down(const T& v, unsigned d) {
  static_assert(sizeof(T) <= 256 && sizeof(T) % 4 == 0, "words, and not too many");
  unsigned me = threadIdx.x, lane = me % kLanes;
  Meeting& m = block.warps[me / kLanes];
  std::memcpy(&block.exchange[256 * me], &v, sizeof v);
  meet(m, 0);
  T out;
  std::memcpy(&out, &block.exchange[256 * (lane + d < kLanes ? me + d : me)], sizeof out);
  meet(m, 0);
  return out;
}

inline float widen_half(uint16_t h) {
  int exp = h >> 10 & 31, frac = h & 1023;
  float v = exp == 31 ? (frac ? NAN : INFINITY) : exp == 0 ? std::ldexp(float(frac), -24) : std::ldexp(float(1024 + frac), exp - 25);
  return h & 0x8000 ? -v : v;
}

inline void run_fiber() {
  for (Fiber& me = block.fibers[threadIdx.x];; leave(me)) {
    block.work(block.params);
    me.done = true;
    block.steps++;
  }
}

// resume lets a fiber go on until it leaves.
inline void resume(Fiber& f) {
  if (_setjmp(block.scheduler)) return;
  if (!f.stack.empty()) _longjmp(f.at, 1);
  f.stack.resize(kStack);
  ucontext_t first;
  getcontext(&first);
  first.uc_stack.ss_sp = f.stack.data();
  first.uc_stack.ss_size = kStack;
  first.uc_link = nullptr;
  makecontext(&first, run_fiber, 0);
  setcontext(&first);
}

// run_block plays one block. The fibers take their turns upwards or downwards,
// so that a missing barrier shows in one of the two.
inline void run_block(unsigned index, unsigned threads, bool upwards) {
  Block& b = block;
  b.fibers.resize(threads);
  b.exchange.resize(256 * threads);
  b.all = {threads, 0, 0, 0, 0};
  b.warps.assign(threads / kLanes, {kLanes, 0, 0, 0, 0});
  for (Fiber& f : b.fibers) f.done = false;
  blockIdx.x = index;
  unsigned steps = b.steps - 1;
  for (unsigned left = threads; left > 0;) {
    if (b.steps == steps) {
      std::fprintf(stderr, "block %u: its threads wait for each other at different barriers\n", index);
      std::abort();
    }
    steps = b.steps;
    for (unsigned k = 0; k < threads; k++) {
      Fiber& f = b.fibers[threadIdx.x = upwards ? k : threads - 1 - k];
      if (f.done) continue;
      resume(f);
      left -= f.done;
    }
  }
}

// launch plays a grid. seed orders the blocks.
inline void launch(void (*work)(const void*), unsigned grid, unsigned threads, const void* params, uint64_t seed) {
  block.work = work;
  block.params = params;
  gridDim.x = grid;
  blockDim.x = threads;
  std::vector<unsigned> order(grid);
  for (unsigned i = 0; i < grid; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    unsigned j = unsigned((seed >> 33) % (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  for (unsigned i : order) run_block(i, threads, (seed >> 40 ^ i) & 1);
}

template <class T> inline T change(T* p, T v) { T was = *p; *p = v; return was; }

}  // namespace host

// What scan.cu uses of CUDA.
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#undef __noinline__
#define __noinline__
struct uint4 { uint32_t x, y, z, w; };
inline void __syncthreads() { host::meet(host::block.all, 0); }
inline int __syncthreads_or(int v) { return host::meet(host::block.all, v != 0); }
inline void __threadfence() {}
inline void __threadfence_system() {}
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline void __stcs(T* p, T v) { *p = v; }
inline float __uint_as_float(uint32_t b) { float f; std::memcpy(&f, &b, 4); return f; }
inline double __longlong_as_double(uint64_t b) { double f; std::memcpy(&f, &b, 8); return f; }
template <class T, class U> inline T atomicMin(T* p, U v) { return host::change(p, T(v) < *p ? T(v) : *p); }
template <class T, class U> inline T atomicAdd(T* p, U v) { return host::change(p, T(*p + v)); }
template <class T, class U> inline T atomicOr(T* p, U v) { return host::change(p, T(*p | v)); }
template <class T, class U> inline T atomicExch(T* p, U v) { return host::change(p, T(v)); }
inline uint32_t atomicInc(uint32_t* p, uint32_t last) { return host::change(p, *p >= last ? 0 : *p + 1); }
