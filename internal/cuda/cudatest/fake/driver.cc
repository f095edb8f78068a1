// A CUDA driver without a GPU: the calls of libcuda.so.1 that internal/cuda
// makes, on memory of the host, with the kernels of scan.cu played by host.h.
// Everything happens at once and in order, whatever the stream, except that a
// stream under capture collects work in a graph. It is strict where the real
// driver crashes: a wrong handle or address is an error. It has two GPUs.
#include "scan.cu"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

typedef int Result;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_FOUND = 500, INVALID_HANDLE = 400, CAPTURE_UNSUPPORTED = 900, INVALID_PTX = 218, ILLEGAL_ADDRESS = 700 };

namespace {

typedef std::vector<std::function<void()>> Graph;

// Memory ends at a page that must not be touched, so that a read or a write
// past its end stops the test.
struct Memory { char* map; size_t mapped, size; bool host; int device; };

struct Stream { std::unique_ptr<Graph> capture; int device; };

const int kDevices = 2;
const size_t kFill = 16 << 20;  // at each end: all of a gigabyte would take a second, and memory

std::recursive_mutex mu;
std::map<uintptr_t, Memory> memory;  // by address
std::map<uintptr_t, std::unique_ptr<Stream>> streams;
std::map<uintptr_t, std::unique_ptr<Graph>> graphs;
std::map<uintptr_t, int> events, modules;  // their devices
uintptr_t next_handle = 0x1000;
size_t in_use[kDevices], capacity = size_t(1) << 30;
uint64_t launches;
Result lost[kDevices];  // what every call on the device returns once its context is gone
Result marks;  // what cuEventRecord returns when it is not OK
thread_local std::vector<uintptr_t> contexts;
thread_local int capture_mode;  // 2: relaxed
const uintptr_t kContext = 0xc0de;
bool started;

int device() { return int(contexts.back() - kContext); }

const char* const kNames[] = {"ng_check", "ng_control", "ng_flush"};
const unsigned kSizes[] = {sizeof(Launch), 24, 8};

void check(const void* p) { ng_check(*(const Launch*)p); }
struct Control { State* s; Field* f; u32 n, op; };
void control(const void* p) { auto c = (const Control*)p; ng_control(c->s, c->f, c->n, c->op); }
void flush(const void* p) { ng_flush(*(const Field* const*)p); }
void (*const kWork[])(const void*) = {check, control, flush};

#define CALL extern "C" Result
#define LOCK std::lock_guard<std::recursive_mutex> lock(mu)
#define NEED_CONTEXT LOCK; if (contexts.empty()) return INVALID_CONTEXT; if (lost[device()]) return lost[device()]
// What might break a capture is forbidden to a thread that has not said that it knows what it does.
#define NEED_SAFE NEED_CONTEXT; if (capture_mode != 2 && capturing_any()) return CAPTURE_UNSUPPORTED
#define NEED(x, code) if (!(x)) return code

// owner returns the memory that holds [p, p + n), or null.
const Memory* owner(uintptr_t p, size_t n) {
  auto it = memory.upper_bound(p);
  if (it == memory.begin()) return nullptr;
  --it;
  return p + n <= it->first + it->second.size ? &it->second : nullptr;
}

Result allocate(size_t n, uintptr_t* out) {
  if (n == 0) return INVALID_VALUE;
  if (in_use[device()] + n > capacity) return OUT_OF_MEMORY;
  size_t page = sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
  char* p = (char*)mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return OUT_OF_MEMORY;
  mprotect(p + room, page, PROT_NONE);
  size_t fill = std::min(room, kFill);  // what nobody wrote must not look like zero
  memset(p, 0xa5, fill);
  memset(p + room - fill, 0xa5, fill);
  *out = uintptr_t(p + (room - n) / 256 * 256);
  memory[*out] = {p, room + page, n, false, device()};
  in_use[device()] += n;
  return OK;
}

Result release(uintptr_t p) {
  auto it = memory.find(p);
  NEED(it != memory.end() && !it->second.host, INVALID_VALUE);
  in_use[it->second.device] -= it->second.size;
  munmap(it->second.map, it->second.mapped);
  memory.erase(it);
  return OK;
}

// run does the work now or, on a stream under capture, keeps it for replay.
Result run(uintptr_t stream, std::function<void()> work) {
  if (stream > 2) {
    auto it = streams.find(stream);
    NEED(it != streams.end() && it->second->device == device(), INVALID_HANDLE);
    if (it->second->capture) {
      it->second->capture->push_back(work);
      return OK;
    }
  }
  work();
  return OK;
}

bool capturing(uintptr_t stream) {
  auto it = streams.find(stream);
  return it != streams.end() && it->second->capture;
}

bool capturing_any() {
  for (auto& s : streams) if (s.second->capture) return true;
  return false;
}

// readable reports whether there is memory where the arguments of a check begin.
bool readable(const Launch& l) {
  for (u32 i = 0; i < l.call.args; i++) if (l.from[i].n > 0 && !owner(uintptr_t(l.from[i].base), 1)) return false;
  return true;
}

// play plays a kernel. One that reads what is not there takes the context with it,
// which the next call is told.
void play(uintptr_t f, unsigned grid, unsigned threads, const void* params) {
  if (lost[device()]) return;
  if (f == 0 && !readable(*(const Launch*)params)) {
    lost[device()] = ILLEGAL_ADDRESS;
    return;
  }
  host::launch(kWork[f], grid, threads, params, launches++);
}

}  // namespace

CALL cuInit(unsigned) { started = true; return OK; }
CALL cuDriverGetVersion(int* v) { *v = 12000; return OK; }
CALL cuDeviceGetCount(int* n) { NEED(started, NOT_INITIALIZED); *n = kDevices; return OK; }
CALL cuDeviceGet(int* d, int i) { NEED(i >= 0 && i < kDevices, INVALID_DEVICE); *d = i; return OK; }
CALL cuDeviceGetName(char* s, int n, int) { strncpy(s, "host playing a GPU", n); return OK; }
CALL cuDeviceTotalMem_v2(size_t* n, int) { *n = capacity; return OK; }
CALL cuDeviceGetAttribute(int* v, int what, int) {
  switch (what) {
    case 11: *v = 1 << 20; return OK;  // MAX_PITCH
    case 16: *v = 4; return OK;        // MULTIPROCESSOR_COUNT
    case 75: *v = 7; return OK;        // COMPUTE_CAPABILITY_MAJOR
    case 76: *v = 0; return OK;
    default: *v = 0; return OK;
  }
}
CALL cuDevicePrimaryCtxRetain(uintptr_t* c, int d) { *c = kContext + d; return OK; }
CALL cuDevicePrimaryCtxRelease_v2(int) { return OK; }
CALL cuCtxGetCurrent(uintptr_t* c) { *c = contexts.empty() ? 0 : contexts.back(); return OK; }
CALL cuCtxPushCurrent_v2(uintptr_t c) { NEED(c >= kContext && c < kContext + kDevices, INVALID_CONTEXT); contexts.push_back(c); return OK; }
CALL cuCtxPopCurrent_v2(uintptr_t* c) { NEED(!contexts.empty(), INVALID_CONTEXT); *c = contexts.back(); contexts.pop_back(); return OK; }
CALL cuCtxSynchronize() { NEED_SAFE; return capturing_any() ? CAPTURE_UNSUPPORTED : OK; }
CALL cuThreadExchangeStreamCaptureMode(int* mode) { std::swap(capture_mode, *mode); return OK; }
CALL cuMemGetInfo_v2(size_t* free, size_t* total) { NEED_CONTEXT; *free = capacity - in_use[device()]; *total = capacity; return OK; }

// The text is not compiled: the kernels are those of scan.cu, built in.
CALL cuModuleLoadDataEx(uintptr_t* m, const char* text, unsigned n, const int* options, void** values) {
  NEED_SAFE;
  if (!strstr(text, ".entry ng_check(")) {
    for (unsigned i = 0; i < n; i++) if (options[i] == 5) strcpy((char*)values[i], "no kernel in sight");  // ERROR_LOG_BUFFER
    return INVALID_PTX;
  }
  modules[*m = next_handle++] = device();
  return OK;
}
CALL cuModuleUnload(uintptr_t m) { NEED_CONTEXT; return modules.erase(m) ? OK : INVALID_HANDLE; }
CALL cuModuleGetFunction(uintptr_t* f, uintptr_t m, const char* name) {
  NEED_CONTEXT;
  NEED(modules.count(m), INVALID_HANDLE);
  for (uintptr_t i = 0; i < sizeof kNames / sizeof *kNames; i++) if (!strcmp(name, kNames[i])) return *f = 16 * modules[m] + i + 1, OK;
  return NOT_FOUND;
}

CALL cuMemAlloc_v2(uintptr_t* p, size_t n) { NEED_SAFE; return allocate(n, p); }
CALL cuMemFree_v2(uintptr_t p) { NEED_SAFE; return release(p); }
// Memory that a context which was lost had registered may come again.
CALL cuMemHostRegister_v2(uintptr_t p, size_t n, unsigned) {
  NEED_SAFE;
  for (auto it = memory.begin(); it != memory.end();) it = it->second.host && it->first < p + n && p < it->first + it->second.size ? memory.erase(it) : std::next(it);
  memory[p] = {nullptr, 0, n, true, device()};
  return OK;
}
CALL cuMemHostUnregister(uintptr_t p) { NEED_CONTEXT; NEED(memory.count(p) && memory[p].host, INVALID_VALUE); memory.erase(p); return OK; }
CALL cuMemHostGetDevicePointer_v2(uintptr_t* d, uintptr_t p, unsigned) { NEED_CONTEXT; NEED(owner(p, 1), INVALID_VALUE); *d = p; return OK; }
CALL cuMemsetD8Async(uintptr_t p, u8 v, size_t n, uintptr_t s) {
  NEED_CONTEXT;
  NEED(owner(p, n), INVALID_VALUE);
  return run(s, [=] { memset((void*)p, v, n); });
}
CALL cuMemcpyHtoDAsync_v2(uintptr_t d, const void* h, size_t n, uintptr_t s) {
  NEED_CONTEXT;
  NEED(owner(d, n), INVALID_VALUE);
  return run(s, [=] { memcpy((void*)d, h, n); });
}
CALL cuMemcpyDtoHAsync_v2(void* h, uintptr_t d, size_t n, uintptr_t s) {
  NEED_CONTEXT;
  NEED(owner(d, n), INVALID_VALUE);
  return run(s, [=] { memcpy(h, (void*)d, n); });
}

struct Copy2D {
  size_t sx, sy; int stype; void* shost; uintptr_t sdev, sarray; size_t spitch;
  size_t dx, dy; int dtype; char* dhost; uintptr_t ddev, darray; size_t dpitch;
  size_t width, height;
};
CALL cuMemcpy2DAsync_v2(const Copy2D* given, uintptr_t s) {
  NEED_CONTEXT;
  Copy2D c = *given;
  NEED(c.stype == 2 && c.dtype == 1 && c.width <= c.spitch && c.width <= c.dpitch && c.spitch <= 1 << 20, INVALID_VALUE);
  NEED(c.height == 0 || owner(c.sdev, c.spitch * (c.height - 1) + c.width), INVALID_VALUE);
  return run(s, [=] { for (size_t y = 0; y < c.height; y++) memcpy(c.dhost + y * c.dpitch, (char*)c.sdev + y * c.spitch, c.width); });
}

CALL cuStreamCreate(uintptr_t* s, unsigned) { NEED_CONTEXT; *s = next_handle++; streams[*s].reset(new Stream{nullptr, device()}); return OK; }
CALL cuStreamDestroy_v2(uintptr_t s) { NEED_CONTEXT; return streams.erase(s) ? OK : INVALID_HANDLE; }
CALL cuStreamSynchronize(uintptr_t s) { NEED_SAFE; return capturing(s) ? CAPTURE_UNSUPPORTED : OK; }
CALL cuStreamIsCapturing(uintptr_t s, int* v) { NEED_CONTEXT; NEED(s <= 2 || streams.count(s), INVALID_HANDLE); *v = capturing(s); return OK; }
CALL cuStreamWaitEvent(uintptr_t s, uintptr_t e, unsigned) { NEED_CONTEXT; NEED(events.count(e), INVALID_HANDLE); return capturing(s) ? CAPTURE_UNSUPPORTED : OK; }
CALL cuStreamBeginCapture_v2(uintptr_t s, int) { NEED_CONTEXT; NEED(streams.count(s), CAPTURE_UNSUPPORTED); streams[s]->capture.reset(new Graph); return OK; }
CALL cuStreamEndCapture(uintptr_t s, uintptr_t* g) {
  NEED_CONTEXT;
  NEED(capturing(s), INVALID_VALUE);
  graphs[*g = next_handle++] = std::move(streams[s]->capture);
  return OK;
}
CALL cuGraphInstantiateWithFlags(uintptr_t* x, uintptr_t g, unsigned long long) {
  NEED_CONTEXT;
  NEED(graphs.count(g), INVALID_HANDLE);
  graphs[*x = next_handle++].reset(new Graph(*graphs[g]));
  return OK;
}
CALL cuGraphLaunch(uintptr_t x, uintptr_t s) {
  NEED_CONTEXT;
  NEED(graphs.count(x), INVALID_HANDLE);
  for (auto& work : *graphs[x]) if (Result r = run(s, work)) return r;
  return OK;
}
CALL cuGraphDestroy(uintptr_t g) { NEED_CONTEXT; return graphs.erase(g) ? OK : INVALID_HANDLE; }
CALL cuGraphExecDestroy(uintptr_t x) { NEED_CONTEXT; return graphs.erase(x) ? OK : INVALID_HANDLE; }

CALL cuEventCreate(uintptr_t* e, unsigned) { NEED_CONTEXT; events[*e = next_handle++] = device(); return OK; }
CALL cuEventDestroy_v2(uintptr_t e) { NEED_CONTEXT; return events.erase(e) ? OK : INVALID_HANDLE; }
CALL cuEventRecord(uintptr_t e, uintptr_t s) { NEED_CONTEXT; NEED(!marks, marks); NEED(events.count(e) && events[e] == device(), INVALID_HANDLE); return capturing(s) ? CAPTURE_UNSUPPORTED : OK; }
CALL cuEventSynchronize(uintptr_t e) { NEED_SAFE; return events.count(e) ? OK : INVALID_HANDLE; }
CALL cuEventQuery(uintptr_t e) { NEED_CONTEXT; return events.count(e) ? OK : INVALID_HANDLE; }
CALL cuEventElapsedTime(float* ms, uintptr_t a, uintptr_t b) { NEED_CONTEXT; NEED(events.count(a) && events.count(b), INVALID_HANDLE); *ms = 0; return OK; }

CALL cuLaunchKernel(uintptr_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, uintptr_t s, void** params, void**) {
  NEED_CONTEXT;
  NEED(int(f / 16) == device(), INVALID_HANDLE);
  f %= 16;
  NEED(f >= 1 && f <= 3 && gx > 0 && gy == 1 && gz == 1 && bx == unsigned(kThreads) && by == 1 && bz == 1, INVALID_VALUE);
  f--;
  auto copy = std::make_shared<std::string>();
  if (f == 1) {
    Control c = {*(State**)params[0], *(Field**)params[1], *(u32*)params[2], *(u32*)params[3]};
    copy->assign((char*)&c, sizeof c);
  } else {
    copy->assign((char*)params[0], kSizes[f]);
  }
  return run(s, [=] { play(f, gx, bx, copy->data()); });
}

// ng_objects returns how many objects there are that a program has to give back.
extern "C" unsigned ng_objects() {
  LOCK;
  return unsigned(memory.size() + streams.size() + graphs.size() + events.size() + modules.size());
}

// ng_lose takes the context of a device away, and with 0 gives it back.
extern "C" void ng_lose(int device, Result r) {
  LOCK;
  lost[device] = r;
}

// ng_marks has every cuEventRecord fail, and with 0 none.
extern "C" void ng_marks(Result r) {
  LOCK;
  marks = r;
}

// ng_sizeof lets the tests compare layout.go with the compiler's opinion.
extern "C" unsigned ng_sizeof(unsigned what) {
  const unsigned all[] = {
    sizeof(Row), sizeof(Partial), sizeof(Turn), sizeof(First), sizeof(Field), sizeof(Trip), sizeof(Verdict), sizeof(State), sizeof(Call),
    sizeof(Source), sizeof(Launch), offsetof(Field, first), offsetof(Field, ring), offsetof(Field, limit),
    offsetof(State, clocks), offsetof(State, trip), offsetof(State, done), offsetof(Launch, what), offsetof(Launch, from),
    kThreads, kTile, kArgs};
  return what < sizeof all / sizeof *all ? all[what] : 0;
}
