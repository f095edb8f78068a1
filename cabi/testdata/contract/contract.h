/* What the parts of the contract's program share. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "nanguard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;
extern const char *dir; /* takes the dumps */

#define CHECK(cond) do { if (!(cond)) { \
	fprintf(stderr, "%s:%d: %s: not so: %s (last error: %s)\n", __FILE__, __LINE__, __func__, #cond, last_error()); \
	__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST); } } while (0)

#define FAILS(code, call, words) do { \
	CHECK((call) == (code)); \
	if (strstr(last_error(), words) == NULL) { \
		fprintf(stderr, "%s:%d: %s: \"%s\" does not say \"%s\"\n", __FILE__, __LINE__, __func__, last_error(), words); \
		__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST); } } while (0)

enum { ENVS = 8, COLS = 3 };

/* The text of the thread's last error. */
const char *last_error(void);

/* A guard of ENVS envs whose dumps go to a folder of that name, and its config. */
ng_config config_of(const char *name);
ng_guard guard_of(const char *name);

/* An array of float32 in C order, and the binding of a field to it. */
ng_ref ref_of(float *values, int64_t rows, int64_t cols);
int bind_field(ng_guard g, const char *name, ng_ref *ref);

/* The verdict of a guard that must have tripped, once its dump is written. */
ng_verdict verdict_of(ng_guard g);

/* Whether there is a file with something in it. */
int exists(const char *path);

/* The parts, one file each. */
void interface_keeps_its_promises(void);
void guard_keeps_its_promises(void);
void scan_keeps_its_promises(void);
void process_keeps_its_promises(long checks);

#endif
