/* One look at an array, without a guard. */
#define _GNU_SOURCE
#include "contract.h"

#include <sys/mman.h>

static void a_scan_needs_no_guard(void) {
	enum { ROWS = 300 };
	static float x[ROWS * COLS];
	for (int i = 0; i < ROWS * COLS; i++) x[i] = i % 2;
	x[COLS * 11] = -9, x[COLS * 12] = 9;
	ng_ref ref = ref_of(x, ROWS, COLS);
	ng_summary s = {.struct_size = sizeof s};
	CHECK(ng_scan(&ref, NULL) == NG_OK && ng_scan(&ref, &s) == NG_OK);
	CHECK(s.first_class == 0 && s.first_row == -1 && s.first_col == -1 && s.bad_rows == 0);
	CHECK(s.min == -9 && s.max == 9 && s.absmax == 9 && s.absmax_row == 11 && s.mean == (450. - 1) / 900);
	x[COLS * 200 + 1] = NAN, x[COLS * 200 + 2] = INFINITY, x[COLS * 201] = -INFINITY;
	CHECK(ng_scan(&ref, NULL) == NG_TRIPPED);
	CHECK(ng_scan(&ref, &s) == NG_TRIPPED);
	CHECK(s.first_class == NG_NAN && s.first_row == 200 && s.first_col == 1 && s.bad_rows == 2);
	CHECK(s.nan == 1 && s.posinf == 1 && s.neginf == 1 && s.max == 9);
	s = (ng_summary){.struct_size = 8, .nan = 77}; /* a caller that knows the first members only */
	CHECK(ng_scan(&ref, &s) == NG_TRIPPED);
	CHECK(s.first_class == NG_NAN && s.nan == 77);
}

static void a_scan_that_cannot_be_made(void) {
	float x[ENVS * COLS] = {0};
	ng_ref ref = ref_of(x, ENVS, COLS), bad;
	ng_summary s = {0};
	FAILS(NG_ERR_ARGUMENT, ng_scan(&ref, &s), "struct_size of ng_summary");
	FAILS(NG_ERR_ARGUMENT, ng_scan(NULL, NULL), "ng_ref is NULL");
	FAILS(NG_ERR_ARGUMENT, (bad = ref, bad.memory = NG_CUDA, ng_scan(&bad, NULL)), "only host memory");
	FAILS(NG_ERR_ARGUMENT, (bad = ref, bad.dtype = 0, ng_scan(&bad, NULL)), "dtype 0");
	FAILS(NG_ERR_ARGUMENT, (bad = ref, bad.rows = -1, ng_scan(&bad, NULL)), "-1 rows");
	FAILS(NG_ERR_ARGUMENT, (bad = ref, bad.address = NULL, ng_scan(&bad, NULL)), "no address");
	CHECK((bad.rows = 0, ng_scan(&bad, NULL)) == NG_OK);
	for (int32_t dtype = NG_FLOAT16; dtype <= NG_FLOAT64; dtype++) {
		void *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int64_t size = dtype <= NG_BFLOAT16 ? 2 : dtype == NG_FLOAT32 ? 4 : 8;
		bad = ref_of(p, 4096, 1), bad.dtype = dtype, bad.row_stride = size, s.struct_size = sizeof s;
		CHECK(ng_scan(&bad, &s) == NG_OK);
		munmap(p, 1 << 16);
		FAILS(NG_ERR_ARGUMENT, ng_scan(&bad, &s), "cannot be read");
		FAILS(NG_ERR_ARGUMENT, ng_scan(&bad, NULL), "cannot be read");
	}
}

void scan_keeps_its_promises(void) {
	a_scan_needs_no_guard();
	a_scan_that_cannot_be_made();
}
