// The scan of one check, for a GPU (compiled by NVRTC to scan.ptx) and, with
// NG_HOST, for the host, where host.h plays the GPU. doc.go tells the plan.
//
// Words: an argument is one field of this check. Its elements are numbered in
// row-major order and cut into tiles of 20 KiB. A reader is a block that reads
// every n-th tile of an argument; a bookkeeper is a block that sums up the
// frame of a field before this one.

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
enum Class : u32 { kFinite, kNaN, kPosInf, kNegInf };
enum Broken : u32 { kLimit, kGrowth };            // in place of a class, in the key of a precursor
enum Mode : u32 { kVector, kElement, kByte };     // how an argument can be read
enum Flag : u32 { kMonitor = 1, kMarkEnvs = 2 };  // of a field
enum Op : u32 { kFreeze = 1, kRearm, kResume, kEmpty, kAskRearm, kAskResume, kThaw };  // of ng_control

struct Row {       // of a trace
  i64 tick, count;
  double nan, posinf, neginf, absmax, argmax, min, max, mean;
};

struct Partial {   // what a reader found among its elements
  double absmax, min, max, sum;  // of the finite ones; absmax -1: there are none
  i64 at;                        // first element that has absmax
  u32 nan, posinf, neginf;
  u32 scaled;                    // sum is at 2^-80 of its size
  u64 pad;
};

struct Turn {      // a frame of a field, and what the next one needs
  i64 tick;
  char* dst;       // where the next frame goes in the ring; null: nowhere
  Partial* to;     // where its readers leave what they find
  double bound;    // an absolute value above it is out of bounds in the next frame
  i64 count;
  i64 frames;      // up to this one; its parity says which half of partials is its own
  u32 slot, trace_at;
  u32 held;        // frames in the ring
  u32 readers;
};

struct First {     // the first bad value of a field
  u64 key;         // element << 2 | class, or ~0
  i64 tick, count; // tick 0: there is none
  u32 rows;        // bad in that frame
  u32 pad;
};

struct Field {
  // Kept by the GPU. Of the turns the one of the larger tick is the latest; a
  // launch reads it and writes the other, so that its blocks need not agree.
  Turn turns[2];
  First first;
  // Written by the host before the first launch.
  char* ring;      // slots frames of slot_bytes each, a multiple of 16
  i64 slot_bytes;
  Row* trace;
  u32* bitmap;     // one bit for each row: bad in the first bad frame
  Partial* partials;         // two times max_readers
  i64 rows, cols;
  u32 slots;       // 0: frames are not kept
  u32 trace_len;
  u32 max_readers;
  u32 dtype, flags, rank;
  u32 growth_frames;         // 0: no limit on growth, else at least 2
  u32 pad;
  double limit;              // of the absolute value; 0: none
  double growth, floor;
  u64 pad2[6];
};

struct Trip {
  i64 tick, count;
  i64 until;       // count of the clock at which recording ends
  u64 key;         // precursor 1 bit, rank 20, element 41, class 2
  u32 clock, pad;
};

struct Verdict {   // in memory of the host
  Trip trip;
  u32 tripped, frozen;
  u32 rearms;      // how often recording began again
  u32 seq;         // odd while the rest is being written
};

struct State {
  i64 tick;        // of the last check
  u32 frozen, tripped;
  Verdict* verdict;
  u64* env_keys;   // for each env tick<<20|rank of its first bad value, or ~0
  i64 clocks[8];
  i64 post_frames;
  Trip trip;
  u32 rearms;
  u32 thaw;        // kRearm or kResume: to be done at the end of the next check, 0: nothing
  u64 candidate;   // smallest key of what may trip in this check, or ~0
  u64 done;        // blocks of the check under way; those with a candidate in the upper half
};

struct Call {
  State* state;
  Field* fields;
  u32 args;        // of this launch
  u32 blocks;      // of the check: what does not fit one launch follows in the next
  u32 clock, advance;
  u32 part;        // 0 in the first launch of a check
  u32 pad;
};

struct Source {
  const char* base;
  i64 row_stride, col_stride;  // bytes
  u64 n;                       // elements
};

static const int kArgs = 48;

struct Launch {    // the kernel's parameter
  Call call;
  u32 first[kArgs];     // first reader of each argument; before it are args bookkeepers
  u32 what[kArgs];      // field << 16 | dtype << 8 | mode
  Source from[kArgs];
};

static_assert(sizeof(Row) == 80 && sizeof(Partial) == 64 && sizeof(Turn) == 64 && sizeof(First) == 32 && sizeof(Field) == 320, "layout.go");
static_assert(sizeof(Trip) == 40 && sizeof(Verdict) == 56 && sizeof(State) == 168 && sizeof(Call) == 40 && sizeof(Source) == 32 && sizeof(Launch) == 1960, "layout.go");

// ---- Threads working together ----

static const int kThreads = 128, kWarps = kThreads / 32;
static const int kVectors = 10, kTile = kThreads * 16 * kVectors;  // vectors of each thread in a tile
static const u64 kNone = ~0ull;

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
// gives the result to thread 0. slots is room in shared memory for one tally of
// each warp.
// Its loops stay loops: between the kernels of a simulator a check comes to a
// cold cache, and waits for each further line of its code longer than for a jump.
template <class T>
__device__ __forceinline__ T together(T v, T* slots) {
#pragma unroll 1
  for (u32 d = 16; d > 0; d /= 2) v.merge(down(v, d));
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return v;
  v = slots[threadIdx.x % kWarps];
#pragma unroll 1
  for (u32 d = kWarps / 2; d > 0; d /= 2) v.merge(down(v, d));
  return v;
}

typedef Tally<float, u32> Tally32;
typedef Tally<double, i64> Tally64;

// Moment is a check under way.
struct Moment {
  i64 tick, count;
};

struct Shared {
  union { Tally32 t32[kWarps]; Tally64 t64[kWarps]; };
  double scaled[kWarps];
  u64 bad, over;   // first bad element << 2 | class; first element out of bounds
  u64 nan, posinf, neginf;
  u32 rows, marks; // marks: bad rows go into the bitmap
  // For thread 0 from begin on, for all after a barrier:
  Moment now;
  Partial* to;     // for what this reader finds
  bool tripped;
};

// ---- Memory ----

// fetch loads 16 bytes that are read once and do not change, or gives zeros when
// they are not wanted. What comes after it does not wait for them.
__device__ __forceinline__ uint4 fetch(const uint4* p, bool wanted) {
  uint4 v = {0, 0, 0, 0};
#ifdef NG_HOST
  if (wanted) v = *p;
#else
  asm volatile("{ .reg .pred w; setp.ne.u32 w, %5, 0; @w ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4]; }"
    : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w) : "l"(p), "r"(u32(wanted)));
#endif
  return v;
}

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

// Lens turns the bits of integers of one size into numbers.
struct Lens {
  u32 flip, most;  // signed: the sign bit; bool: at most one
  bool is_signed;
};

__device__ __forceinline__ Lens lens_of(u32 dtype) {
  bool is_signed = dtype <= kInt64;
  return {is_signed ? 0x80u << (dtype == kInt16 ? 8 : dtype == kInt32 ? 24 : 0) : 0, dtype == kBool ? 1 : ~0u, is_signed};
}

// The types that are read fast: their bits, what they are computed with, how
// many vectors a thread loads before it looks at the first, and whether they are
// read fast with any strides.
struct F16 {
  typedef u16 Bits; typedef float Value; typedef Tally32 Sum;
  static const int kAtOnce = 5; static const bool kStrided = true;
  static __device__ __forceinline__ float value(u16 b, const Lens&) { return widen_half(b); }
};
struct BF16 {
  typedef u16 Bits; typedef float Value; typedef Tally32 Sum;
  static const int kAtOnce = 5; static const bool kStrided = true;
  static __device__ __forceinline__ float value(u16 b, const Lens&) { return __uint_as_float(u32(b) << 16); }
};
struct F32 {
  typedef u32 Bits; typedef float Value; typedef Tally32 Sum;
  static const int kAtOnce = 10; static const bool kStrided = true;
  static __device__ __forceinline__ float value(u32 b, const Lens&) { return __uint_as_float(b); }
};
struct F64 {
  typedef u64 Bits; typedef double Value; typedef Tally64 Sum;
  static const int kAtOnce = 5; static const bool kStrided = true;
  static __device__ __forceinline__ double value(u64 b, const Lens&) { return __longlong_as_double(b); }
};
struct Int8 {
  typedef u8 Bits; typedef float Value; typedef Tally32 Sum;
  static const int kAtOnce = 5; static const bool kStrided = false;
  static __device__ __forceinline__ float value(u8 b, const Lens& l) { return float(int((b ^ l.flip) < l.most ? b ^ l.flip : l.most) - int(l.flip)); }
};
struct Int16 {
  typedef u16 Bits; typedef float Value; typedef Tally32 Sum;
  static const int kAtOnce = 5; static const bool kStrided = false;
  static __device__ __forceinline__ float value(u16 b, const Lens& l) { return float(int(b ^ l.flip) - int(l.flip)); }
};
struct Int32 {
  typedef u32 Bits; typedef double Value; typedef Tally64 Sum;
  static const int kAtOnce = 5; static const bool kStrided = false;
  static __device__ __forceinline__ double value(u32 b, const Lens& l) { return double(i64(b ^ l.flip) - i64(l.flip)); }
};
struct Int64 {
  typedef u64 Bits; typedef double Value; typedef Tally64 Sum;
  static const int kAtOnce = 5; static const bool kStrided = false;
  static __device__ __forceinline__ double value(u64 b, const Lens& l) { return l.is_signed ? double(i64(b)) : double(b); }
};

// value widens an element of any type; exact but for integers beyond 2^53.
__device__ double value(u32 dtype, u64 b) {
  switch (dtype) {
    case kFloat16: return widen_half(u16(b));
    case kBFloat16: return __uint_as_float(u32(b) << 16);
    case kFloat32: return __uint_as_float(u32(b));
    case kFloat64: return __longlong_as_double(b);
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

__device__ __forceinline__ u64 quotient(u64 a, u64 b) {
  return ((a | b) >> 32) ? a / b : u32(a) / u32(b);
}

// Early is what a block has to know before it begins. It is asked for with one
// load, a word by each lane, before the elements are, and looked at after: loads
// that give all lanes the same would be waited for at once.
struct Early {
#ifdef NG_HOST
  const u64* at[19];
  __device__ u64 word(u32 i) const { return *at[i]; }
#else
  u64 mine;
  __device__ __forceinline__ u64 word(u32 i) const { return __shfl_sync(~0u, mine, i); }
#endif
  bool frozen, tripped, second;  // second: of the field's turns that one is the latest
  Moment now;

  // look is called once, by all threads, before what follows.
  __device__ __forceinline__ void look(const Call& c) {
    u64 tick = word(16), flags = word(17), a = word(0), b = word(8);
    frozen = u32(flags) != 0, tripped = flags >> 32 != 0;
    second = i64(b) <= i64(tick) && (i64(a) > i64(tick) || i64(b) > i64(a));
    now = {i64(tick) + 1, i64(word(18)) + c.advance};
  }
  // turn returns a word of the latest turn.
  __device__ __forceinline__ u64 turn(u32 i) const { return word(second ? 8 + i : i); }
};

// early_word says where the words are: 16 of the field's turns, then those of the
// state.
__device__ __forceinline__ const u64* early_word(const Call& c, const Field* f, u32 i) {
  const u64* p = i < 18 ? (const u64*)c.state + (i & 1) : (const u64*)&c.state->clocks[c.clock];
  return i < 16 ? (const u64*)f->turns + i : p;
}

__device__ __forceinline__ Early ask(const Call& c, const Field* f) {
  Early e;
#ifdef NG_HOST
  for (u32 i = 0; i < 19; i++) e.at[i] = early_word(c, f, i);
#else
  e.mine = *(const volatile u64*)early_word(c, f, threadIdx.x % 32);
#endif
  return e;
}

__device__ __forceinline__ u32 next(u32 i, u32 n) { return i + 1 >= n ? 0 : i + 1; }

// Work is what a reader has to do.
struct Work {
  Source from;
  u32 dtype, mode;
  u32 reader, readers;  // this one of so many
  Field* f;
  char* dst;            // the frame in the ring, or null
  double bound;         // an absolute value above it is out of bounds
};

// begin looks at what was asked for. It reports false when nothing is recorded any
// more.
__device__ __forceinline__ bool begin(const Call& c, Early& e, Work& w, Shared& sh) {
  e.look(c);
  w.dst = (char*)e.turn(1);
  w.bound = __longlong_as_double(e.turn(3));
  Partial* to = (Partial*)e.turn(2) + w.reader;
  if (threadIdx.x == 0) sh.now = e.now, sh.tripped = e.tripped, sh.to = to;
  return !e.frozen;
}

// element_at returns the element that a reader comes to as its i-th, when a tile
// has so many.
__device__ __forceinline__ u64 element_at(const Work& w, u32 i, u32 tile) {
  return (u64(i / tile) * w.readers + w.reader) * tile + i % tile;
}

// ---- The careful reading: any type, any address, any value ----

__device__ __forceinline__ Tally32 nothing(Tally32*) { return {-1, HUGE_VALF, -HUGE_VALF, 0, 0}; }
__device__ __forceinline__ Tally64 nothing(Tally64*) { return {-1, HUGE_VAL, -HUGE_VAL, 0, 0}; }

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

// mark_bad counts a bad element.
__device__ void mark_bad(const Call& c, const Field* f, Shared& sh, u64 element, u64 row, u32 cls, i64 tick) {
  atomicAdd(cls == kNaN ? &sh.nan : cls == kPosInf ? &sh.posinf : &sh.neginf, 1ull);
  atomicMin(&sh.bad, element << 2 | cls);
  if (sh.marks) {
    u32 bit = 1u << (row & 31);
    if (!(atomicOr(&f->bitmap[row >> 5], bit) & bit)) atomicAdd(&sh.rows, 1u);
  }
  if (f->flags & kMarkEnvs) atomicMin(&c.state->env_keys[row], u64(tick) << 20 | f->rank);
}

// record keeps what a careful reading found. It reports whether something of
// it may trip.
__device__ bool record(const Call& c, Field* f, const Shared& sh, Moment now) {
  u64 key = kNone;
  if (sh.over != kNone) key = 1ull << 63 | u64(f->rank) << 43 | sh.over;
  if (sh.bad != kNone) {
    if (sh.marks) {
      atomicMin(&f->first.key, sh.bad);
      atomicAdd(&f->first.rows, sh.rows);
      f->first.tick = now.tick;
      f->first.count = now.count;
    }
    if (!(f->flags & kMonitor)) key = u64(f->rank) << 43 | sh.bad;
  }
  if (key == kNone) return false;
  atomicMin(&c.state->candidate, key);
  return true;
}

// careful reads the elements of a reader one by one. When they are in the ring
// already, w.dst is null. It tells thread 0 whether something may trip.
__device__ __noinline__ bool careful(const Call c, const Work w, Shared& sh) {
  Field* f = w.f;
  u64 cols = f->cols;
  u32 t = threadIdx.x, size = size_of(w.dtype), tile = kTile / size;
  if (t == 0) {
    sh.bad = sh.over = kNone, sh.nan = sh.posinf = sh.neginf = sh.rows = 0;
    i64 since = *(volatile i64*)&f->first.tick;  // another block may write this tick there
    sh.marks = since == 0 || since == sh.now.tick;
  }
  __syncthreads();
  Moment now = sh.now;
  double scaled = 0;
  Tally64 v = nothing((Tally64*)0);
  for (u32 i = t;; i += kThreads) {
    u64 e = element_at(w, i, tile);
    if (e - i % tile >= w.from.n) break;
    if (e >= w.from.n) continue;  // beyond the end of the last tile
    u64 row = quotient(e, cols);
    u64 b = load(w.from.base + i64(row) * w.from.row_stride + i64(e - row * cols) * w.from.col_stride, size, w.mode == kByte);
    if (w.dst) store(w.dst + e * size, size, b);
    double x = value(w.dtype, b), abs = fabs(x);
    if (!(abs < HUGE_VAL)) {
      mark_bad(c, f, sh, e, row, x != x ? kNaN : x > 0 ? kPosInf : kNegInf, now.tick);
      continue;
    }
    if (abs > w.bound) atomicMin(&sh.over, e << 2 | (f->limit > 0 && abs > f->limit ? kLimit : kGrowth));
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
  if (t != 0) return false;
  bool overflow = v.sum - v.sum != 0;
  if (overflow) {
    v.sum = 0;
    for (u32 k = 0; k < kWarps; k++) v.sum += sh.scaled[k];
  }
  *sh.to = {v.best, v.lo, v.hi, v.sum, v.at, u32(sh.nan), u32(sh.posinf), u32(sh.neginf), overflow, 0};
  return record(c, f, sh, now);
}

// ---- The fast reading: what nearly always is finite ----

// Sum32 adds floats without the slow double unit of consumer cards: s + c is the
// sum, c what rounding lost. A NaN or an infinity makes it NaN. Only what take
// adds up before, the elements of one vector, is rounded as floats are.
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

__device__ __forceinline__ Sum32 zero(Tally32*) { return {0, 0}; }
__device__ __forceinline__ Sum64 zero(Tally64*) { return {0}; }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ float smaller(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }
__device__ __forceinline__ double smaller(double a, double b) { return a < b ? a : b; }
__device__ __forceinline__ float magnitude(float a) { return fabsf(a); }
__device__ __forceinline__ double magnitude(double a) { return fabs(a); }

// take adds N elements, a power of two, that follow each other, the first of
// them the i-th of the reader's.
template <int N, class F, class Tally, class Sum>
__device__ __forceinline__ void take(Tally& v, Sum& sum, const F (&x)[N], u32 i) {
  F lo = x[0], hi = x[0];
#pragma unroll
  for (int k = 1; k < N; k++) lo = smaller(lo, x[k]), hi = larger(hi, x[k]);
  v.lo = smaller(v.lo, lo);
  v.hi = larger(v.hi, hi);
  F most = larger(hi, -lo);
  if (most > v.best) {
    v.best = most;
    u32 at = N - 1;
#pragma unroll
    for (int k = N - 2; k >= 0; k--) at = magnitude(x[k]) == most ? k : at;
    v.at = i + at;
  }
  F part[N];
#pragma unroll
  for (int k = 0; k < N; k++) part[k] = x[k];
#pragma unroll
  for (int n = N / 2; n > 0; n /= 2)
#pragma unroll
    for (int k = 0; k < n; k++) part[k] += part[k + n];
  sum.add(part[0]);
}

// count_block counts a block as done and returns the count before. What a block
// reads of the state it has read by then.
__device__ __forceinline__ u64 count_block(const Call& c, bool candidate) {
  if (candidate) __threadfence();
  return atomicAdd(&c.state->done, candidate ? 1ull << 32 | 1 : 1ull);
}

// vectors reads tiles in C order at an address that is a multiple of 16.
template <class T>
__device__ __forceinline__ typename T::Sum vectors(const Call& c, Work& w, Early& e, Shared& sh) {
  typedef typename T::Sum Sum;
  typedef typename T::Bits Bits;
  const u32 per = 16 / sizeof(Bits), tile = kTile / sizeof(Bits);
  Sum v = nothing((Sum*)0);
  auto sum = zero((Sum*)0);
  Lens lens = lens_of(w.dtype);
  u32 i0 = threadIdx.x * per;  // of this thread's first element, among the reader's
  if (w.from.n == 0) begin(c, e, w, sh);
  for (u64 start = u64(w.reader) * tile; start < w.from.n; start += u64(w.readers) * tile) {
    u32 count = u32(w.from.n - start < tile ? w.from.n - start : tile);
    int left = int(count / per) - int(threadIdx.x);  // vectors from this thread's first on
    u64 at = start * sizeof(Bits) + 16 * threadIdx.x;
#pragma unroll 1
    for (int part = 0; part < kVectors; part += T::kAtOnce) {
      const uint4* src = (const uint4*)(w.from.base + at);
      union { uint4 v; Bits b[per]; } in[T::kAtOnce];
#pragma unroll
      for (int k = 0; k < T::kAtOnce; k++) in[k].v = fetch(src + k * kThreads, k * kThreads < left);
      if (i0 < tile && part == 0 && !begin(c, e, w, sh)) return v;
      uint4* dst = w.dst ? (uint4*)(w.dst + at) : 0;
#pragma unroll
      for (int k = 0; k < T::kAtOnce; k++) {
        if (k * kThreads >= left) break;
        if (dst) __stcs(dst + k * kThreads, in[k].v);
        typename T::Value x[per];
#pragma unroll
        for (u32 j = 0; j < per; j++) x[j] = T::value(in[k].b[j], lens);
        take<per>(v, sum, x, i0 + k * kThreads * per);
      }
      at += T::kAtOnce * kThreads * 16, i0 += T::kAtOnce * kThreads * per, left -= T::kAtOnce * kThreads;
    }
    u32 rest = count % per, t = threadIdx.x;
    if (rest > 0 && t < rest) {  // of the field's last tile, less than a vector
      u32 i = count - rest + t;
      Bits b = ((const Bits*)w.from.base)[start + i];
      if (w.dst) ((Bits*)w.dst)[start + i] = b;
      typename T::Value x[1] = {T::value(b, lens)};
      take<1>(v, sum, x, i0 - t * per - tile + i);
    }
    sum.into(&v.sum);
  }
  return v;
}

// elements reads tiles of any strides element by element.
template <class T>
__device__ __forceinline__ typename T::Sum elements(const Work& w) {
  typedef typename T::Sum Sum;
  typedef typename T::Bits Bits;
  const u32 tile = kTile / sizeof(Bits), unroll = 4;
  const Source& a = w.from;
  const u64 cols = w.f->cols;
  u64 rows_on = quotient(kThreads, cols), cols_on = kThreads - rows_on * cols;  // from one element to this thread's next
  i64 on = i64(rows_on) * a.row_stride + i64(cols_on) * a.col_stride, wrap = a.row_stride - i64(cols) * a.col_stride;
  Sum v = nothing((Sum*)0);
  auto sum = zero((Sum*)0);
  Lens lens = {};
  u32 i0 = 0;
  for (u64 start = u64(w.reader) * tile; start < a.n; start += u64(w.readers) * tile, i0 += tile) {
    u64 row = quotient(start + threadIdx.x, cols), col = start + threadIdx.x - row * cols;
    const char* p = a.base + i64(row) * a.row_stride + i64(col) * a.col_stride;
    Bits* dst = w.dst ? (Bits*)w.dst + start : 0;
    u32 count = u32(a.n - start < tile ? a.n - start : tile);
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
        if (dst) dst[i] = b[k];
        typename T::Value x[1] = {T::value(b[k], lens)};
        take<1>(v, sum, x, i0 + i);
      }
      sum.into(&v.sum);
    }
  }
  return v;
}

// fast reads what a reader has to and gives thread 0 what it found. It reports
// false to all threads when an element was not finite or out of bounds or when
// the sum overflowed; otherwise it lets thread 0 count the block as soon as that
// is known.
template <class T>
__device__ __forceinline__ bool fast(const Call& c, Work& w, Early& e, Shared& sh, typename T::Sum* slots, u64* was) {
  typename T::Sum v;
  if (w.mode == kVector) {
    v = vectors<T>(c, w, e, sh);
  } else if (begin(c, e, w, sh)) {
    if constexpr (T::kStrided) v = elements<T>(w);
  }
  if (e.frozen) return true;
  if (__syncthreads_or(!(v.sum - v.sum == 0) || v.best > w.bound)) return false;
  const bool huge = sizeof v.best == 8;  // the sum of the threads' sums may overflow
  if (!huge && threadIdx.x == 0) *was = count_block(c, false);
  v = together(v, slots);
  if (huge && __syncthreads_or(threadIdx.x == 0 && v.sum - v.sum != 0)) return false;
  if (huge && threadIdx.x == 0) *was = count_block(c, false);
  if (threadIdx.x == 0)
    *sh.to = {v.best, v.lo, v.hi, v.sum, i64(element_at(w, u32(v.at), kTile / sizeof(typename T::Bits))), 0, 0, 0, 0, 0};
  return true;
}

// ---- The blocks ----

// publish tells the host of a trip, or that nothing is written any more, or that
// it is again.
__device__ void publish(const State* s) {
  volatile Verdict* v = s->verdict;
  u32 seq = v->seq;
  v->seq = seq + 1;
  __threadfence_system();
  v->trip.tick = s->trip.tick, v->trip.count = s->trip.count, v->trip.key = s->trip.key, v->trip.clock = s->trip.clock;
  v->tripped = s->tripped, v->frozen = s->frozen, v->rearms = s->rearms;
  __threadfence_system();
  v->seq = seq + 2;
}

// settle gives what other blocks have on the way to memory, without a fence that
// each check would pay for, far more time than it takes to get there.
__device__ void settle() {
#ifndef NG_HOST
  for (long long start = clock64(); clock64() - start < 100000;) {}
#endif
}

// judge decides on a trip and on the end of recording.
__device__ __noinline__ void judge(State* s, u32 clock, Moment now, bool candidates) {
  __threadfence();
  u64 key = candidates ? atomicExch(&s->candidate, kNone) : kNone;
  bool news = !s->tripped && key != kNone;
  if (news) {
    s->tripped = 1;
    s->trip = {now.tick, now.count, now.count + s->post_frames, key, clock, 0};
  }
  if (s->tripped && clock == s->trip.clock && now.count >= s->trip.until) s->frozen = 1, news = true;
  if (!news) return;
  settle();
  publish(s);
}

// leave is the last that thread 0 of a block does. was is what count_block said;
// the last block of a check moves the clocks on.
__device__ __forceinline__ void leave(const Call& c, Moment now, bool tripped, u64 was, bool candidate) {
  if (u32(was) + 1 != c.blocks) return;
  State* s = c.state;
  s->done = 0;
  s->tick = now.tick;
  s->clocks[c.clock] = now.count;
  candidate |= was >> 32 != 0;
  if (candidate || tripped) judge(s, c.clock, now, candidate);
}

// mean_of adds at 2^-80 of their size what may overflow when it is added plainly.
__device__ __noinline__ double mean_of(const Partial* p, u32 n, double finite) {
  const double most = 1.7976931348623157e308;
  double plain = 0, sum = 0;
  for (u32 k = 0; k < n; k++) {
    plain += p[k].scaled ? HUGE_VAL : p[k].sum;
    sum += p[k].scaled ? p[k].sum : p[k].sum * 0x1p-80;
  }
  if (plain - plain == 0) return plain / finite;
  double mean = sum / finite * 0x1p80;
  return mean > most ? most : mean < -most ? -most : mean;
}

// begin_again lets recording begin again, with the trip forgotten or not.
__device__ void begin_again(State* s, bool rearm) {
  if (rearm) s->tripped = 0;
  s->candidate = kNone;
  s->frozen = s->tripped && s->clocks[s->trip.clock] >= s->trip.until;
  s->thaw = 0, s->rearms++;
}

// leave_frozen is what the last block does when nothing is recorded. That the blocks are counted all
// the same lets recording begin again between two checks, whoever makes them: no
// block of a check may see that it is frozen when another does not.
__device__ __noinline__ void leave_frozen(State* s, u32 clock, Moment now) {
  s->done = 0;
  s->tick = now.tick;
  s->clocks[clock] = now.count;
  u32 thaw = *(volatile u32*)&s->thaw;
  if (thaw == 0) return;
  begin_again(s, thaw == kRearm);
  publish(s);
}

// pass is all that a block has to do when nothing is recorded, after a barrier:
// all threads have read the state by then, which the last block may change.
__device__ __forceinline__ void pass(const Call& c, Moment now) {
  if (threadIdx.x == 0 && u32(count_block(c, false)) + 1 == c.blocks) leave_frozen(c.state, c.clock, now);
}

// no_fields is a check that only moves its clock. One thread runs it.
__device__ __noinline__ void no_fields(const Call c) {
  State* s = c.state;
  Moment now = {s->tick + 1, s->clocks[c.clock] + c.advance};
  if (s->frozen) leave_frozen(s, c.clock, now);
  else leave(c, now, s->tripped != 0, c.blocks - 1, false);
}

// Book is what a bookkeeper needs to know of a field.
struct Book {
  u64 elements, cols;
  Row* trace;
  Partial* partials;
  u32 max_readers;
};

__device__ __forceinline__ Book book_of(const Field* f) {
  return {u64(f->rows) * f->cols, u64(f->cols), f->trace, f->partials, f->max_readers};
}

// sum_up writes the trace's row of a frame. All threads of a block take part.
__device__ __forceinline__ void sum_up(const Book& f, const Turn& m, Shared& sh) {
  u32 t = threadIdx.x;
  const Partial* p = f.partials + (m.frames & 1) * f.max_readers;
  Tally64 v = nothing((Tally64*)0);
  int odd = 0;  // something is not finite, or a sum is scaled
  for (u32 k = t; k < m.readers; k += kThreads) {
    Partial q = p[k];
    v.merge({q.absmax, q.min, q.max, q.at, q.sum});
    odd |= q.scaled | q.nan | q.posinf | q.neginf;
  }
  if (t == 0) sh.nan = sh.posinf = sh.neginf = 0;
  v = together(v, sh.t64);
  odd = __syncthreads_or(odd || (t == 0 && v.sum - v.sum != 0));
  u64 finite = f.elements;
  if (odd) {
    for (u32 k = t; k < m.readers; k += kThreads)
      atomicAdd(&sh.nan, u64(p[k].nan)), atomicAdd(&sh.posinf, u64(p[k].posinf)), atomicAdd(&sh.neginf, u64(p[k].neginf));
    __syncthreads();
    finite -= sh.nan + sh.posinf + sh.neginf;
  }
  if (t != 0) return;
  Row r = {m.tick, m.count, double(sh.nan), double(sh.posinf), double(sh.neginf), 0, 0, 0, 0, 0};
  if (finite > 0) {
    r.absmax = v.best + 0.0, r.argmax = double(quotient(v.at, f.cols)), r.min = v.lo + 0.0, r.max = v.hi + 0.0;  // + 0.0: no minus zero
    r.mean = v.sum / double(finite);
    if (odd) r.mean = mean_of(p, m.readers, double(finite));
  }
  f.trace[m.trace_at] = r;
}

// bound_of returns the bound for the frame that follows a frame of a field.
__device__ double bound_of(const Field* f, i64 frames, u32 trace_at) {
  double bound = f->limit > 0 ? f->limit : HUGE_VAL;
  u32 k = f->growth_frames;
  if (k == 0 || frames < k) return bound;
  u32 back = k - 1, then = trace_at >= back ? trace_at - back : trace_at + f->trace_len - back;
  double most = f->growth * f->trace[then].absmax;
  if (most < f->floor) most = f->floor;
  return most < bound ? most : bound;
}

// turn_over notes the frame that this launch takes, and what the next one needs.
__device__ __forceinline__ void turn_over(Field* f, const Turn& m, Moment now, u32 readers) {
  Turn t = {now.tick, 0, 0, 0, now.count, m.frames + 1, 0, 0, 0, readers};
  if (m.frames > 0) t.slot = next(m.slot, f->slots), t.trace_at = next(m.trace_at, f->trace_len);
  t.held = m.held < f->slots ? m.held + 1 : f->slots;
  if (f->slots) t.dst = f->ring + i64(next(t.slot, f->slots)) * f->slot_bytes;
  t.to = f->partials + ((t.frames + 1) & 1) * f->max_readers;
  t.bound = bound_of(f, t.frames, t.trace_at);
  f->turns[f->turns[0].tick == m.tick] = t;
}

// keep_book is a bookkeeper's work: to sum up the field's last frame, which the
// launch before left in pieces, and to note the one that this launch takes.
__device__ __forceinline__ void keep_book(const Call& c, Field* f, Shared& sh, u32 readers) {
  Early e = ask(c, f);
  Book book = book_of(f);
  e.look(c);
  if (e.frozen) {
    __syncthreads();
    pass(c, e.now);
    return;
  }
  u64 at = e.turn(6), held = e.turn(7);
  Turn m = {i64(e.turn(0)), 0, 0, 0, i64(e.turn(4)), i64(e.turn(5)), u32(at), u32(at >> 32), u32(held), u32(held >> 32)};
  u64 was = 0;
  __syncthreads();  // all threads have read the state, which the last block changes
  if (threadIdx.x == 0) was = count_block(c, false);
  if (m.frames > 0) sum_up(book, m, sh);
  if (threadIdx.x != 0) return;
  turn_over(f, m, e.now, readers);
  leave(c, e.now, e.tripped, was, false);
}

// read_part is a reader's work.
__device__ __forceinline__ void read_part(const Call& c, Shared& sh, Work& w) {
  Early e = ask(c, w.f);
  u64 was = 0;
  bool done = false, candidate = false;
  bool kept = w.mode == kVector || (w.mode == kElement && w.dtype <= kFloat64);  // read fast, and so in the ring
  switch (kept ? w.dtype : 0) {
    case kFloat32: done = fast<F32>(c, w, e, sh, sh.t32, &was); break;
    case kFloat16: done = fast<F16>(c, w, e, sh, sh.t32, &was); break;
    case kBFloat16: done = fast<BF16>(c, w, e, sh, sh.t32, &was); break;
    case kFloat64: done = fast<F64>(c, w, e, sh, sh.t64, &was); break;
    case kInt8: case kUint8: case kBool: done = fast<Int8>(c, w, e, sh, sh.t32, &was); break;
    case kInt16: case kUint16: done = fast<Int16>(c, w, e, sh, sh.t32, &was); break;
    case kInt32: case kUint32: done = fast<Int32>(c, w, e, sh, sh.t64, &was); break;
    case kInt64: case kUint64: done = fast<Int64>(c, w, e, sh, sh.t64, &was); break;
    default: begin(c, e, w, sh);
  }
  if (e.frozen) {
    // The barrier is of the kind that the others come to first: a freeze that is not in
    // order with checks may be seen by some warps of a block and not by others, and
    // must not hang them. Then thread 0 counts the block, whichever it has seen.
    if (kept) __syncthreads_or(0); else __syncthreads();
    pass(c, e.now);
    return;
  }
  if (!done) {
    if (kept) w.dst = 0;
    candidate = careful(c, w, sh);
    if (threadIdx.x == 0) was = count_block(c, candidate);
  }
  if (threadIdx.x == 0) leave(c, sh.now, sh.tripped, was, candidate);
}

// find returns the argument whose readers block b is one of.
__device__ __forceinline__ u32 find(const Launch& p, u32 b) {
  u32 a = 0, end = p.call.args;
  while (end - a > 1) {
    u32 mid = (a + end) / 2;
    if (p.first[mid] <= b) a = mid; else end = mid;
  }
  return a;
}

#define NG_KERNEL extern "C" __global__ void __launch_bounds__(kThreads, 5)

// ng_check is the work of one block of a check.
NG_KERNEL ng_check(const __grid_constant__ Launch p) {
  __shared__ Shared sh;
  const Call& c = p.call;
  u32 b = blockIdx.x;
  if (c.args == 0) {
    if (threadIdx.x == 0) no_fields(c);
    return;
  }
  u32 a = b < c.args ? b : find(p, b), what = p.what[a];
  u32 readers = (a + 1 < c.args ? p.first[a + 1] : gridDim.x) - p.first[a];
  Field* f = c.fields + (what >> 16);
  if (b < c.args) {
    keep_book(c, f, sh, readers);
    return;
  }
  Work w = {p.from[a], what >> 8 & 255, what & 255, b - p.first[a], readers, f, 0, 0};
  read_part(c, sh, w);
}

// ng_flush sums up the last frame of each field, one block for each, once no
// check can follow.
NG_KERNEL ng_flush(const Field* fields) {
  __shared__ Shared sh;
  const Field* f = fields + blockIdx.x;
  Turn m = f->turns[f->turns[1].tick > f->turns[0].tick];
  if (m.frames > 0) sum_up(book_of(f), m, sh);
}

// ng_control freezes the recorder, lets it go on, or takes the trip back, empties
// the rings and starts it again; the host clears bitmaps and env keys. One thread
// for each field. What is asked for comes to pass at the end of the next check of
// the frozen recorder or, if there was none, with kThaw or before another freeze.
NG_KERNEL ng_control(State* s, Field* fields, u32 n, u32 op) {
  u32 i = blockIdx.x * kThreads + threadIdx.x;
  if ((op == kRearm || op == kEmpty) && i < n) {
    fields[i].first = {kNone, 0, 0, 0, 0};
    fields[i].turns[0].held = fields[i].turns[1].held = 0;
  }
  if (i != 0) return;
  switch (op) {
    case kEmpty: return;
    case kAskRearm: s->thaw = kRearm; return;
    case kAskResume: s->thaw = kResume; return;
    case kRearm: case kResume: begin_again(s, op == kRearm); break;
    default:
      if (s->thaw) begin_again(s, s->thaw == kRearm);
      if (op == kFreeze) s->frozen = 1;
  }
  publish(s);
}
