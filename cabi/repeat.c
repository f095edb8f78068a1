#include "repeat.h"

#include <stdatomic.h>
#include <string.h>

repeat_guard *repeat_guards[REPEAT_GUARDS];

static _Atomic int64_t repeated;

int64_t ng_repeated(void) { return atomic_load(&repeated); }

#define ATOMIC(p) ((_Atomic uint32_t *)(p))

/* The driver's functions; a CUstream, a CUfunction and a CUevent are pointers. */
typedef int launch_kernel(uintptr_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, uintptr_t stream, void **params, void **extra);
typedef int stream_is_capturing(uintptr_t stream, int *status);
typedef int event_record(uintptr_t event, uintptr_t stream);

/* Reports whether a ref is what it was, but for its address. */
static int is_like(const ng_ref *now, const ng_ref *was) {
	const size_t head = offsetof(ng_ref, address), rest = offsetof(ng_ref, rows);
	return memcmp(now, was, head) == 0 && memcmp((const char *)now + rest, (const char *)was + rest, sizeof *now - rest) == 0;
}

/* Reports whether a field can be read where it is now as it was read before. */
static int can_follow(const repeat_check *c, uint32_t i, const ng_ref *now) {
	uintptr_t to = (uintptr_t)now->address, from = (uintptr_t)c->refs[i].address;
	if (to == from) return 1;
	return to != 0 && ((to ^ from) & 15) == 0 && (c->fixed >> i & 1) == 0;
}

/* Returns the check that was made before with these refs, NULL when there is none. */
static repeat_check *find(repeat_guard *g, int32_t clock, int32_t advance, const ng_ref *refs, uint32_t n) {
	for (uint32_t k = 0; k < g->places; k++) {
		repeat_check *c = &g->checks[k];
		if (g->at[k] != refs || c->clock != clock || c->advance != advance || c->n != n) continue;
		for (uint32_t i = 0; i < n; i++) {
			if (!is_like(&refs[i], &c->refs[i]) || !can_follow(c, i, &refs[i])) return NULL;
		}
		return c;
	}
	return NULL;
}

/* Reports whether work on the stream happens now and in order. The default stream
 * cannot be captured. */
static int in_order(const repeat_guard *g, uintptr_t stream) {
	int capturing = 0;
	if (stream == 1) stream = 0; /* another name of the default stream */
	if (stream != g->stream) return 0;
	return stream == 0 || (((stream_is_capturing *)g->is_capturing)(stream, &capturing) == 0 && !capturing);
}

/* Launches a check with the addresses of its refs; returns whether that went well. */
static int launch(repeat_guard *g, repeat_check *c, const ng_ref *refs) {
	char *to = (char *)c->params + g->address;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t address = (uintptr_t)refs[i].address;
		memcpy(to + i * g->step, &address, sizeof address);
		c->refs[i].address = refs[i].address;
	}
	void *params[] = {c->params};
	if (((launch_kernel *)g->launch)(g->function, c->blocks, 1, 1, g->threads, 1, 1, 0, g->stream, params, NULL) != 0) return 0;
	c->made++;
	c->turn = ++g->turns;
	atomic_fetch_add_explicit(&repeated, 1, memory_order_relaxed);
	/* Without its mark no check on another stream knows when this one is done: Go will
	 * try once more, and nothing is launched here before that. */
	g->torn = g->stream != 0 && ((event_record *)g->record)(g->mark, g->stream) != 0;
	return 1;
}

int repeat(ng_guard guard, int32_t clock, int32_t advance, const ng_ref *refs, uint32_t n, void *stream) {
	repeat_guard *g = atomic_load((repeat_guard *_Atomic *)&repeat_guards[guard % REPEAT_GUARDS]);
	int code = REPEAT_NOT;
	if (g == NULL || atomic_exchange(ATOMIC(&g->busy), 1) != 0) return REPEAT_NOT;
	if (atomic_load(ATOMIC(&g->open)) && g->guard == guard && !g->torn && atomic_load(ATOMIC(g->news)) == g->seen && in_order(g, (uintptr_t)stream)) {
		repeat_check *c = find(g, clock, advance, refs, n);
		if (c != NULL && launch(g, c, refs)) code = g->code;
	}
	atomic_store_explicit(ATOMIC(&g->busy), 0, memory_order_release);
	return code;
}
