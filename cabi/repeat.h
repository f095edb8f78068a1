/*
 * Checks that a guard has made before, made again without entering Go, which
 * takes several times as long as their launch. repeat.go fills these structs in
 * and reads them; repeat.c makes the checks.
 */
#ifndef NANGUARD_REPEAT_H
#define NANGUARD_REPEAT_H

#include "nanguard.h"

enum {
	REPEAT_GUARDS = 16,  /* guards at a time; the checks of further ones all go through Go */
	REPEAT_CHECKS = 32,  /* learned checks of a guard; further ones take the places of the oldest */
	REPEAT_REFS = 48,    /* fields of a check */
	REPEAT_PARAMS = 2048 /* bytes of the kernel's parameter */
};

/* A check that was made before. */
typedef struct {
	int32_t clock, advance; /* as the caller gave them */
	int32_t counted;        /* the clock as the guard counts it */
	uint32_t n, blocks;
	int64_t made;           /* since Go looked */
	int64_t turn;           /* when it was made last, by the guard's turns */
	uint64_t fixed;         /* a bit for each ref that may not move */
	ng_ref refs[REPEAT_REFS]; /* as they were the last time */
	uint64_t params[REPEAT_PARAMS / 8];
} repeat_check;

/* What there is of one guard. Go takes the place for a guard and gives it back;
 * the memory stays. */
typedef struct {
	uint32_t busy;      /* 1: a check is being made */
	uint32_t open;      /* 1: checks may be made. Go sets it to 0 and waits until none is being made before it touches the rest */
	ng_guard guard;     /* 0: none */
	uint32_t torn;      /* 1: a mark could not be recorded */
	int64_t turns;      /* checks that were made here */
	uint32_t seen;      /* what *news is while the GPU says nothing new */
	uintptr_t news;     /* a const uint32_t * */
	uintptr_t stream;   /* of all checks */
	int32_t code;       /* that a check returns */
	uint32_t threads;   /* of a block */
	uint32_t address, step; /* where in the parameter the address of the first field lies, and how far from it the next one */
	uint32_t places;    /* of checks in use */
	uint32_t oldest;
	uintptr_t launch, is_capturing, record; /* cuLaunchKernel, cuStreamIsCapturing, cuEventRecord */
	uintptr_t function, mark; /* that are launched and recorded */
	const ng_ref *at[REPEAT_CHECKS]; /* the caller's refs, by which a check is found */
	repeat_check checks[REPEAT_CHECKS];
} repeat_guard;

/* What has no ng_ before its name stays within the library. */
#define HIDDEN __attribute__((visibility("hidden")))

/* The places, by handle modulo their number. NULL: not used so far. */
HIDDEN extern repeat_guard *repeat_guards[REPEAT_GUARDS];

/* Makes a check, if it can be made without Go: its code, or REPEAT_NOT. */
enum { REPEAT_NOT = -1000 };
HIDDEN int repeat(ng_guard guard, int32_t clock, int32_t advance, const ng_ref *refs, uint32_t n, void *stream);

/* How many checks were made here since the library was loaded. For tests. */
int64_t ng_repeated(void);

#endif
