// The scan of one check, for a GPU (compiled by NVRTC to scan.ptx) and, with
// NG_HOST, for the host, where host.h plays the GPU. doc.go tells the plan.
//
// Words: an argument is one field of this check. Its elements are numbered in
// row-major order and cut into chunks, one for each block. The last block of a
// field to finish ends the field's frame, the last field ends the check.

#ifdef NG_HOST
#include "host.h"
#else
#define HUGE_VALF __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// ---- What the host and the GPU share. layout.go mirrors it. ----

enum DType : u32 { kFloat16 = 1, kBFloat16, kFloat32, kFloat64, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64, kBool };
enum Class : u32 { kFinite, kNaN, kPosInf, kNegInf, kLimit, kGrowth };
enum Mode : u32 { kVector, kElement, kByte };        // how an argument can be read
enum Flag : u32 { kMonitor = 1, kMarkEnvs = 2 };     // of a field
enum Op : u32 { kFreeze = 1, kRearm = 2 };           // of ng_control

struct Bad {
  i64 tick, count, row, col;
  u32 cls, field;
  i64 rows;  // rows that are bad in this frame
};

struct Row {
  i64 tick, count;
  double nan, posinf, neginf, absmax, argmax, min, max, mean;
};

struct Field {
  // Written by the host before the first launch.
  char* ring;      // slots frames of slot_bytes each, a multiple of 16
  i64 slot_bytes;
  Row* trace;
  u32* bitmap;     // one bit for each row: bad in the first bad frame
  i64 rows, cols;
  u32 slots;       // 0: frames are not kept
  u32 trace_len;   // at least 1, at least slots
  u32 dtype, flags, rank;
  u32 growth_frames;         // 0: no limit on growth
  double limit;              // of the absolute value; 0: none
  double growth, floor;
  // Kept by the GPU.
  i64 frames;      // ever seen
  u32 slot, trace_at;        // where the next frame and row go
  u32 done;                  // blocks of the check under way
  u32 pad;
  Bad first;       // the first bad value; cls is kFinite until there is one
  Bad hit;         // what would take the trip in this check
};

struct Verdict {   // in memory of the host
  i64 tick;
  u32 tripped, frozen;
  Bad trip;
  u32 clock, pad;
};

struct State {
  i64 tick;
  i64 clocks[8];
  i64 post_frames, post_left;
  u64* env_keys;   // for each env tick<<20|rank of its first bad value, or ~0
  struct Partial* partials;
  Verdict* verdict;
  u64 candidate;   // smallest key of what may trip in this check, or ~0
  u32 frozen, tripped;
  u32 done;        // fields of the check under way
  u32 trip_clock;
  Bad trip;
};

struct Partial {
  double absmax, min, max, sum;  // of the finite elements; absmax -1: none
  i64 at;                        // first element that has absmax
  u64 first;                     // first bad element << 2 | class, or ~0
  u32 nan, posinf, neginf;
  u32 rows_scaled;               // rows newly bad; top bit: sum is at 2^-80 of its size
};

struct Arg {
  const char* base;
  i64 row_stride, col_stride;  // bytes
  u32 field;
  u32 mode;
};

struct Call {
  State* state;
  Field* fields;
  u64 chunk;       // bytes, a multiple of 4096
  u32 args;        // of this launch
  u32 total;       // of the check: what does not fit one launch follows in the next
  u32 clock;
  u32 advance;
};

template <int N>
struct Launch {    // of up to N arguments, as the kernel's parameter
  Call call;
  u32 first[N];    // block at which each argument begins, ascending
  Arg args[N];
};

static_assert(sizeof(Bad) == 48 && sizeof(Row) == 80 && sizeof(Field) == 216 && sizeof(Verdict) == 72, "layout.go");
static_assert(sizeof(State) == 184 && sizeof(Partial) == 64 && sizeof(Arg) == 32 && sizeof(Call) == 40, "layout.go");

// ---- Threads working together ----

static const u32 kThreads = 256, kWarps = kThreads / 32;
static const u64 kNone = ~0ull;
static const u32 kScaled = 1u << 31;

// down returns the v of the thread d lanes on.
template <class T>
__device__ __forceinline__ T down(const T& v, u32 d) {
#ifdef NG_HOST
  return host::down(v, d);
#else
  union { T v; u32 w[sizeof(T) / 4]; } a = {v}, b;
#pragma unroll
  for (u32 i = 0; i < sizeof(T) / 4; i++) b.w[i] = __shfl_down_sync(~0u, a.w[i], d);
  return b.v;
#endif
}

// Tally is what a thread, and in the end a block, found among finite elements.
template <class F, class Index>
struct Tally {
  F best, lo, hi;  // absolute value; best is -1 while there is none
  Index at;        // first element that has best
  double sum;

  __device__ __forceinline__ void merge(const Tally& o) {
    if (o.best > best || (o.best == best && o.at < at)) best = o.best, at = o.at;
    lo = o.lo < lo ? o.lo : lo;
    hi = o.hi > hi ? o.hi : hi;
    sum += o.sum;
  }
};

// together merges the tallies of all threads of the block in a fixed order and
// gives the result to each of them. slots is room in shared memory for one
// tally of each warp.
template <class T>
__device__ __forceinline__ T together(T v, T* slots) {
  for (u32 d = 16; d > 0; d /= 2) v.merge(down(v, d));
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  v = slots[0];
  for (u32 w = 1; w < kWarps; w++) v.merge(slots[w]);
  return v;
}

typedef Tally<float, u32> Tally32;
typedef Tally<double, i64> Tally64;

struct Shared {
  union { Tally32 t32[kWarps]; Tally64 t64[kWarps]; };
  double scaled[kWarps];
  u64 first;
  u32 nan, posinf, neginf, rows;
  u32 last;
};

// ---- Elements ----

// widen_half returns the value of an IEEE 754 half.
__device__ __forceinline__ float widen_half(u16 h) {
#ifdef NG_HOST
  return host::widen_half(h);
#else
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#endif
}

struct F16 { typedef u16 Bits; typedef Tally32 Sum; static __device__ float value(u16 b) { return widen_half(b); } };
struct BF16 { typedef u16 Bits; typedef Tally32 Sum; static __device__ float value(u16 b) { return __uint_as_float(u32(b) << 16); } };
struct F32 { typedef u32 Bits; typedef Tally32 Sum; static __device__ float value(u32 b) { return __uint_as_float(b); } };
struct F64 { typedef u64 Bits; typedef Tally64 Sum; static __device__ double value(u64 b) { return __longlong_as_double(b); } };

// value widens an element of any type; exact but for integers beyond 2^53.
__device__ double value(u32 dtype, u64 b) {
  switch (dtype) {
    case kFloat16: return F16::value(u16(b));
    case kBFloat16: return BF16::value(u16(b));
    case kFloat32: return F32::value(u32(b));
    case kFloat64: return F64::value(b);
    case kInt8: return (signed char)b;
    case kInt16: return short(b);
    case kInt32: return int(b);
    case kInt64: return double(i64(b));
    case kBool: return b != 0;
    default: return double(b);
  }
}

__device__ __forceinline__ u32 size_of(u32 dtype) {
  // One digit for each DType: log2 of its size.
  return 1u << (0x0321032103211ull >> 4 * (dtype - 1) & 15);
}

// ---- The careful reading: any type, any address, any value ----

__device__ u64 load(const char* p, u32 size, bool bytes) {
  if (bytes) {
    u64 b = 0;
    for (u32 k = 0; k < size; k++) b |= u64(u8(p[k])) << 8 * k;
    return b;
  }
  switch (size) {
    case 1: return *(const u8*)p;
    case 2: return *(const u16*)p;
    case 4: return *(const u32*)p;
    default: return *(const u64*)p;
  }
}

__device__ void store(char* p, u32 size, u64 b) {
  switch (size) {
    case 1: *(u8*)p = u8(b); break;
    case 2: *(u16*)p = u16(b); break;
    case 4: *(u32*)p = u32(b); break;
    default: *(u64*)p = b;
  }
}

// mark_bad counts a bad element, which is the i-th of its chunk.
__device__ void mark_bad(const Call& c, const Field* f, Shared& sh, u64 element, u32 cls) {
  atomicAdd(cls == kNaN ? &sh.nan : cls == kPosInf ? &sh.posinf : &sh.neginf, 1u);
  atomicMin(&sh.first, element << 2 | cls);
  u64 row = element / u64(f->cols);
  if (f->first.cls == kFinite) {
    u32 bit = 1u << (row & 31);
    if (!(atomicOr(&f->bitmap[row >> 5], bit) & bit)) atomicAdd(&sh.rows, 1u);
  }
  if (f->flags & kMarkEnvs) atomicMin(&c.state->env_keys[row], u64(c.state->tick + 1) << 20 | f->rank);
}

// careful reads the elements [from, from + count) of an argument one by one.
// dst, where they go in the ring, is null when they are there already.
__device__ void careful(const Call& c, const Arg& a, const Field* f, Shared& sh, u64 from, u32 count, char* dst, Partial* out) {
  u32 t = threadIdx.x, size = size_of(f->dtype);
  if (t == 0) sh.first = kNone, sh.nan = sh.posinf = sh.neginf = sh.rows = 0;
  __syncthreads();
  Tally64 v = {-1, HUGE_VAL, -HUGE_VAL, 0, 0};
  double scaled = 0;
  for (u32 i = t; i < count; i += kThreads) {
    u64 e = from + i, row = e / u64(f->cols);
    u64 b = load(a.base + i64(row) * a.row_stride + i64(e - row * f->cols) * a.col_stride, size, a.mode == kByte);
    if (dst) store(dst + u64(i) * size, size, b);
    double x = value(f->dtype, b), abs = x < 0 ? -x : x;
    if (!(abs < HUGE_VAL)) {
      mark_bad(c, f, sh, e, x != x ? kNaN : x > 0 ? kPosInf : kNegInf);
      continue;
    }
    if (abs > v.best) v.best = abs, v.at = e;
    v.lo = x < v.lo ? x : v.lo;
    v.hi = x > v.hi ? x : v.hi;
    v.sum += x;
    scaled += x * 0x1p-80;
  }
  v = together(v, sh.t64);
  for (u32 d = 16; d > 0; d /= 2) scaled += down(scaled, d);
  if (t % 32 == 0) sh.scaled[t / 32] = scaled;
  __syncthreads();
  if (t != 0) return;
  u32 flag = 0;
  if (v.sum - v.sum != 0) {  // the sum overflowed
    v.sum = 0, flag = kScaled;
    for (u32 w = 0; w < kWarps; w++) v.sum += sh.scaled[w];
  }
  *out = {v.best, v.lo, v.hi, v.sum, v.at, sh.first, sh.nan, sh.posinf, sh.neginf, sh.rows | flag};
}

// ---- The fast reading: floats, of which nearly always all are finite ----

// Sum32 adds floats to about 2^-44 of their mean absolute value without the
// slow double unit of consumer cards: s + c is the sum, c what rounding lost.
// A NaN or an infinity among the elements makes it NaN.
struct Sum32 {
  float s, c;
  __device__ __forceinline__ void add(float v) {
    float t = s + v, b = t - s;
    c += (s - (t - b)) + (v - b);
    s = t;
  }
  __device__ __forceinline__ void into(double* sum) { *sum += double(s) + double(c), s = c = 0; }
};

struct Sum64 {
  double s;
  __device__ __forceinline__ void add(double v) { s += v; }
  __device__ __forceinline__ void into(double* sum) { *sum += s, s = 0; }
};

__device__ __forceinline__ Tally32 nothing(Tally32*) { return {-1, HUGE_VALF, -HUGE_VALF, 0, 0}; }
__device__ __forceinline__ Tally64 nothing(Tally64*) { return {-1, HUGE_VAL, -HUGE_VAL, 0, 0}; }
__device__ __forceinline__ Sum32 zero(Tally32*) { return {0, 0}; }
__device__ __forceinline__ Sum64 zero(Tally64*) { return {0}; }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ float smaller(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }
__device__ __forceinline__ double smaller(double a, double b) { return a < b ? a : b; }
__device__ __forceinline__ float magnitude(float a) { return fabsf(a); }
__device__ __forceinline__ double magnitude(double a) { return fabs(a); }

// take adds N elements that follow each other, the first of them the i-th of
// the chunk.
template <int N, class F, class Tally, class Sum>
__device__ __forceinline__ void take(Tally& v, Sum& sum, const F (&x)[N], u32 i) {
  F most = magnitude(x[0]);
#pragma unroll
  for (int k = 0; k < N; k++) {
    most = larger(most, magnitude(x[k]));
    v.lo = smaller(v.lo, x[k]);
    v.hi = larger(v.hi, x[k]);
    sum.add(x[k]);
  }
  if (most > v.best) {
    v.best = most;
    u32 at = N - 1;
#pragma unroll
    for (int k = N - 2; k >= 0; k--) at = magnitude(x[k]) == most ? k : at;
    v.at = i + at;
  }
}

// vectors reads count elements from an address that is a multiple of 16, in
// C order, and copies them to dst unless that is null.
template <class T>
__device__ __forceinline__ typename T::Sum vectors(const char* src, char* dst, u32 count) {
  typedef typename T::Sum Sum;
  typedef typename T::Bits Bits;
  const u32 per = 16 / sizeof(Bits), unroll = 4;
  u32 whole = count / per;
  Sum v = nothing((Sum*)0);
  auto sum = zero((Sum*)0);
  for (u32 base = threadIdx.x; base < whole; base += unroll * kThreads) {
    union { uint4 v; Bits b[per]; } in[unroll];
#pragma unroll
    for (u32 k = 0; k < unroll; k++)
      if (base + k * kThreads < whole) in[k].v = __ldg((const uint4*)src + base + k * kThreads);
#pragma unroll
    for (u32 k = 0; k < unroll; k++) {
      u32 i = base + k * kThreads;
      if (i >= whole) continue;
      if (dst) __stcs((uint4*)dst + i, in[k].v);
      decltype(T::value(0)) x[per];
#pragma unroll
      for (u32 j = 0; j < per; j++) x[j] = T::value(in[k].b[j]);
      take<per>(v, sum, x, i * per);
    }
    sum.into(&v.sum);
  }
  u32 i = whole * per + threadIdx.x;  // what is left is less than a vector
  if (i < count) {
    Bits b = ((const Bits*)src)[i];
    if (dst) ((Bits*)dst)[i] = b;
    decltype(T::value(0)) x[1] = {T::value(b)};
    take<1>(v, sum, x, i);
    sum.into(&v.sum);
  }
  return v;
}

__device__ __forceinline__ u64 quotient(u64 a, u64 b) {
  return ((a | b) >> 32) ? a / b : u32(a) / u32(b);
}

// elements reads count elements of any strides one by one and copies them to
// dst unless that is null.
template <class T>
__device__ __forceinline__ typename T::Sum elements(const Arg& a, u64 cols, u64 from, char* dst, u32 count) {
  typedef typename T::Sum Sum;
  typedef typename T::Bits Bits;
  const u32 unroll = 4;
  u64 row = quotient(from + threadIdx.x, cols), col = from + threadIdx.x - row * cols;
  u64 rows_on = quotient(kThreads, cols), cols_on = kThreads - rows_on * cols;  // from one element to this thread's next
  const char* p = a.base + i64(row) * a.row_stride + i64(col) * a.col_stride;
  i64 on = i64(rows_on) * a.row_stride + i64(cols_on) * a.col_stride, wrap = a.row_stride - i64(cols) * a.col_stride;
  Sum v = nothing((Sum*)0);
  auto sum = zero((Sum*)0);
  for (u32 base = threadIdx.x; base < count; base += unroll * kThreads) {
    Bits b[unroll];
#pragma unroll
    for (u32 k = 0; k < unroll; k++) {
      if (base + k * kThreads < count) b[k] = __ldg((const Bits*)p);
      p += on, col += cols_on;
      if (col >= cols) col -= cols, p += wrap;
    }
#pragma unroll
    for (u32 k = 0; k < unroll; k++) {
      u32 i = base + k * kThreads;
      if (i >= count) continue;
      if (dst) ((Bits*)dst)[i] = b[k];
      decltype(T::value(0)) x[1] = {T::value(b[k])};
      take<1>(v, sum, x, i);
    }
    sum.into(&v.sum);
  }
  return v;
}

// fast reads a chunk. It reports false to all threads when an element was not
// finite or the sum overflowed; *out then says nothing.
template <class T>
__device__ __forceinline__ bool fast(const Arg& a, const Field* f, typename T::Sum* slots, u64 from, u32 count, char* dst, Partial* out) {
  typename T::Sum v = a.mode == kVector
    ? vectors<T>(a.base + from * sizeof(typename T::Bits), dst, count)
    : elements<T>(a, f->cols, from, dst, count);
  v = together(v, slots);
  *out = {v.best, v.lo, v.hi, v.sum, i64(from + v.at), kNone, 0, 0, 0, 0};
  return v.sum - v.sum == 0;
}

// read reads one chunk of an argument. *out is for thread 0.
__device__ __forceinline__ void read(const Call& c, const Arg& a, const Field* f, Shared& sh, u64 from, u32 count, Partial* out) {
  u32 size = size_of(f->dtype);
  char* dst = f->slots ? f->ring + i64(f->slot) * f->slot_bytes + from * size : 0;
  if (a.mode != kByte) {
    bool done = false;
    switch (f->dtype) {
      case kFloat16: done = fast<F16>(a, f, sh.t32, from, count, dst, out), size = 0; break;
      case kBFloat16: done = fast<BF16>(a, f, sh.t32, from, count, dst, out), size = 0; break;
      case kFloat32: done = fast<F32>(a, f, sh.t32, from, count, dst, out), size = 0; break;
      case kFloat64: done = fast<F64>(a, f, sh.t64, from, count, dst, out), size = 0; break;
    }
    if (done) return;
    if (size == 0) dst = 0;  // the frame is in the ring
    __syncthreads();         // the slots are free again
  }
  careful(c, a, f, sh, from, count, dst, out);
}

// ---- The end of a frame, and of a check ----

// limits says which limit of the field an absolute maximum breaks.
__device__ u32 limits(const Field* f, double absmax) {
  if (f->limit > 0 && absmax > f->limit) return kLimit;
  u32 k = f->growth_frames;
  if (k == 0 || f->frames < k || absmax <= f->floor) return kFinite;
  u32 then = f->trace_at >= k ? f->trace_at - k : f->trace_at + f->trace_len - k;
  return absmax > f->growth * f->trace[then].absmax ? kGrowth : kFinite;
}

// publish tells the host of a trip, or that nothing is written any more.
__device__ void publish(const State* s) {
  volatile Verdict* v = s->verdict;
  if (s->tripped) {
    v->trip.tick = s->trip.tick, v->trip.count = s->trip.count, v->trip.row = s->trip.row, v->trip.col = s->trip.col;
    v->trip.cls = s->trip.cls, v->trip.field = s->trip.field, v->trip.rows = s->trip.rows;
    v->clock = s->trip_clock;
  }
  __threadfence_system();
  v->tripped = s->tripped;
  v->frozen = s->frozen;
}

// end_check moves the clocks on. One thread runs it, when all fields
// have ended their frames.
__device__ void end_check(const Call& c) {
  State* s = c.state;
  __threadfence();
  s->tick++;
  s->clocks[c.clock] += c.advance;
  s->verdict->tick = s->tick;
  u64 key = atomicExch(&s->candidate, kNone);
  if (s->tripped) {
    if (c.clock != s->trip_clock || !c.advance) return;
    s->post_left--;
  } else {
    if (key == kNone) return;
    s->tripped = 1, s->trip_clock = c.clock, s->post_left = s->post_frames;
    s->trip = c.fields[key & 0xfffff].hit;
  }
  s->frozen = s->post_left <= 0;
  publish(s);
}

// end_field writes the field's row of the trace and latches what is bad. One
// thread of the launch runs it for each field.
__device__ void end_field(const Call& c, u32 id, const Partial& p, u64 nan, u64 posinf, u64 neginf, u64 rows, double scaled) {
  State* s = c.state;
  Field* f = c.fields + id;
  i64 tick = s->tick + 1, count = s->clocks[c.clock] + c.advance;
  Row r = {tick, count, double(nan), double(posinf), double(neginf), 0, 0, 0, 0, 0};
  u64 finite = u64(f->rows) * f->cols - nan - posinf - neginf;
  if (finite > 0) {
    r.absmax = p.absmax, r.argmax = double(quotient(p.at, f->cols)), r.min = p.min + 0.0, r.max = p.max + 0.0;  // + 0.0: no minus zero
    r.mean = p.sum / double(finite);
    if (p.rows_scaled & kScaled) {
      const double most = 1.7976931348623157e308;
      r.mean = scaled / double(finite) * 0x1p80;
      r.mean = r.mean > most ? most : r.mean < -most ? -most : r.mean;
    }
  }
  u32 cls = p.first == kNone ? kFinite : u32(p.first & 3);
  u64 at = p.first >> 2;
  if (cls == kFinite) cls = limits(f, r.absmax), at = p.at;
  if (cls != kFinite) {
    i64 row = quotient(at, f->cols);
    Bad bad = {tick, count, row, i64(at - row * f->cols), cls, id, i64(rows)};
    f->hit = bad;
    if (cls < kLimit && f->first.cls == kFinite) f->first = bad;
    // Among what may trip in one check a bad value goes before a broken limit.
    u64 key = u64(cls >= kLimit) << 40 | u64(f->rank) << 20 | id;
    if (cls >= kLimit || !(f->flags & kMonitor)) atomicMin(&s->candidate, key);
  }
  f->trace[f->trace_at] = r;
  f->trace_at = f->trace_at + 1 == f->trace_len ? 0 : f->trace_at + 1;
  if (f->slots) f->slot = f->slot + 1 == f->slots ? 0 : f->slot + 1;
  f->frames++;
  __threadfence();
  if (atomicInc(&s->done, c.total - 1) == c.total - 1) end_check(c);
}

// fresh reads what another block wrote in this launch.
__device__ __forceinline__ Partial fresh(const Partial* p) {
#ifdef NG_HOST
  return *p;
#else
  union { Partial p; uint4 w[4]; } u;
#pragma unroll
  for (u32 k = 0; k < 4; k++) u.w[k] = __ldcg((const uint4*)p + k);
  return u.p;
#endif
}

// scaled_sum adds what overflows when it is added plainly.
__device__ double scaled_sum(const Partial* p, u32 chunks) {
  double sum = 0;
  for (u32 k = 0; k < chunks; k++) {
    Partial q = fresh(p + k);
    sum += q.rows_scaled & kScaled ? q.sum : q.sum * 0x1p-80;
  }
  return sum;
}

// merge_chunks is run by all threads of the block that was the field's last.
__device__ void merge_chunks(const Call& c, u32 id, Shared& sh, const Partial* p, u32 chunks) {
  u32 t = threadIdx.x;
  Tally64 v = nothing((Tally64*)0);
  u32 flag = 0;
  if (t == 0) sh.first = kNone, sh.nan = sh.posinf = sh.neginf = sh.rows = 0;
  __syncthreads();
  u64 nan = 0, posinf = 0, neginf = 0, rows = 0;
  for (u32 k = t; k < chunks; k += kThreads) {
    Partial q = fresh(p + k);
    v.merge({q.absmax, q.min, q.max, q.at, q.sum});
    flag |= q.rows_scaled & kScaled;
    if (q.first == kNone) continue;
    atomicMin(&sh.first, q.first);
    nan += q.nan, posinf += q.posinf, neginf += q.neginf, rows += q.rows_scaled & ~kScaled;
  }
  v = together(v, sh.t64);
  flag = __syncthreads_or(flag || v.sum - v.sum != 0) ? kScaled : 0;
  Partial whole = {v.best, v.lo, v.hi, v.sum, v.at, sh.first, 0, 0, 0, flag};
  if (whole.first != kNone) {  // the counts, through the same slots
    for (u32 d = 16; d > 0; d /= 2) nan += down(nan, d), posinf += down(posinf, d), neginf += down(neginf, d), rows += down(rows, d);
    u64* sums = (u64*)sh.t64;
    if (t == 0) sums[0] = sums[1] = sums[2] = sums[3] = 0;
    __syncthreads();
    if (t % 32 == 0) atomicAdd(&sums[0], nan), atomicAdd(&sums[1], posinf), atomicAdd(&sums[2], neginf), atomicAdd(&sums[3], rows);
    __syncthreads();
    nan = sums[0], posinf = sums[1], neginf = sums[2], rows = sums[3];
  }
  if (t == 0) end_field(c, id, whole, nan, posinf, neginf, rows, flag ? scaled_sum(p, chunks) : 0);
}

// check is the work of one block: chunk number chunk of an argument's chunks.
__device__ __noinline__ void check(const Call c, const Arg a, u32 chunk, u32 chunks) {
  __shared__ Shared sh;
  const Field* f = c.fields + a.field;
  if (c.state->frozen) return;
  u64 total = u64(f->rows) * f->cols, per = c.chunk / size_of(f->dtype), from = chunk * per;
  u32 count = u32(total - from < per ? total - from : per);
  Partial out;
  read(c, a, f, sh, from, count, &out);
  if (chunks == 1) {
    if (threadIdx.x == 0)
      end_field(c, a.field, out, out.nan, out.posinf, out.neginf, out.rows_scaled & ~kScaled, out.sum);
    return;
  }
  Partial* p = c.state->partials + (blockIdx.x - chunk);
  if (threadIdx.x == 0) {
    p[chunk] = out;
    __threadfence();
    sh.last = atomicInc(&c.fields[a.field].done, chunks - 1) == chunks - 1;
  }
  __syncthreads();
  if (!sh.last) return;
  __threadfence();
  merge_chunks(c, a.field, sh, p, chunks);
}

// dispatch finds the argument of this block.
__device__ __forceinline__ void dispatch(const Call& c, const u32* first, const Arg* args) {
  u32 lo = 0, hi = c.args;
  while (hi - lo > 1) {
    u32 mid = (lo + hi) / 2;
    if (first[mid] <= blockIdx.x) lo = mid; else hi = mid;
  }
  u32 end = lo + 1 < c.args ? first[lo + 1] : gridDim.x;
  check(c, args[lo], blockIdx.x - first[lo], end - first[lo]);
}

#define NG_KERNEL extern "C" __global__ void __launch_bounds__(kThreads, 4)

NG_KERNEL ng_check16(const __grid_constant__ Launch<16> p) { dispatch(p.call, p.first, p.args); }
NG_KERNEL ng_check100(const __grid_constant__ Launch<100> p) { dispatch(p.call, p.first, p.args); }

// ng_control freezes the recorder, or takes the trip back and starts it again.
// A block for each 256 fields; the host clears bitmaps and env keys.
NG_KERNEL ng_control(State* s, Field* fields, u32 n, u32 op) {
  u32 i = blockIdx.x * kThreads + threadIdx.x;
  if (op == kRearm && i < n) fields[i].first.cls = fields[i].hit.cls = kFinite;
  if (i != 0) return;
  s->frozen = op == kFreeze;
  if (op == kRearm) s->tripped = 0, s->candidate = kNone;
  publish(s);
}
