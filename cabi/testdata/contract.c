/*
 * The contract of nanguard.h, tried from C: every promise of the header that a
 * caller could rely on. usage: contract DIR CHECKS
 *
 * DIR takes the dumps, one folder per test; CHECKS is how many checks the test
 * of memory growth makes. It prints what broke and exits with 1 then.
 */
#define _GNU_SOURCE
#include "nanguard.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static const char *dir;
static char dump_dir[2048];

#define CHECK(cond) do { if (!(cond)) { \
	char text_[4096]; ng_last_error(text_, sizeof text_); \
	fprintf(stderr, "%s:%d: %s: not so: %s (last error: %s)\n", __FILE__, __LINE__, __func__, #cond, text_); \
	__atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST); } } while (0)

static const char *last_error(void) {
	static _Thread_local char text[4096];
	ng_last_error(text, sizeof text);
	return text;
}

#define FAILS(code, call, words) do { \
	CHECK((call) == (code)); \
	if (strstr(last_error(), words) == NULL) { \
		fprintf(stderr, "%s:%d: %s: \"%s\" does not say \"%s\"\n", __FILE__, __LINE__, __func__, last_error(), words); \
		failures++; } } while (0)

enum { ENVS = 8, COLS = 3 };

static ng_config config_of(const char *name) {
	ng_config c;
	CHECK(ng_config_init(&c) == NG_OK);
	snprintf(dump_dir, sizeof dump_dir, "%s/%s", dir, name);
	c.num_envs = ENVS;
	c.ring_bytes = 1 << 16;
	c.dir = dump_dir;
	return c;
}

static ng_guard guard_of(const char *name) {
	ng_config c = config_of(name);
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	return g;
}

static ng_ref ref_of(float *values, int64_t rows, int64_t cols) {
	return (ng_ref){.struct_size = sizeof(ng_ref), .address = values, .rows = rows, .cols = cols,
		.row_stride = cols * 4, .col_stride = 4, .dtype = NG_FLOAT32};
}

static int bind(ng_guard g, const char *name, ng_ref *ref) {
	ng_field f = {.struct_size = sizeof f, .name = name};
	return ng_bind(g, &f, ref, &ref->field);
}

static ng_verdict verdict_of(ng_guard g) {
	ng_verdict v = {.struct_size = sizeof v};
	CHECK(ng_wait(g, &v) == NG_TRIPPED);
	return v;
}

static int exists(const char *path) {
	struct stat s;
	return stat(path, &s) == 0 && s.st_size > 0;
}

static void sizes_agree(void) {
	CHECK(ng_sizeof("ng_config") == sizeof(ng_config));
	CHECK(ng_sizeof("ng_field") == sizeof(ng_field));
	CHECK(ng_sizeof("ng_ref") == sizeof(ng_ref));
	CHECK(ng_sizeof("ng_event") == sizeof(ng_event));
	CHECK(ng_sizeof("ng_verdict") == sizeof(ng_verdict));
	CHECK(ng_sizeof("ng_summary") == sizeof(ng_summary));
	CHECK(ng_sizeof("ng_nothing") == 0 && ng_sizeof(NULL) == 0);
	CHECK(ng_abi() == NG_ABI && NG_ABI > 1);
}

static void defaults_are_those_of_the_header(void) {
	ng_config c;
	CHECK(ng_config_init(&c) == NG_OK);
	CHECK(c.struct_size == sizeof c && c.device == NG_DEVICE_AUTO && c.num_envs == 0);
	CHECK(c.ring_bytes == 512 << 20 && c.max_frames == 1000 && c.trace_len == 10000 && c.post_frames == 0);
	CHECK(c.max_envs == 5 && c.control_envs == 2 && c.max_dumps == 1 && c.state_spec == 0);
	CHECK(c.dir == NULL && c.model == NULL && c.run_json == NULL);
	FAILS(NG_ERR_ARGUMENT, ng_config_init(NULL), "NULL");
}

static void a_failed_constructor_says_why(void) {
	ng_guard g = 7;
	ng_config c = config_of("unmade");
	c.num_envs = 0;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "NumEnvs 0");
	CHECK(g == 0);
	c = config_of("unmade");
	c.max_dumps = -1;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "negative");
	c = config_of("unmade");
	c.run_json = "{\"rank\": \"first\"}";
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "run_json");
	c.run_json = "{\"ranks\": 1}";
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "ranks");
	c = config_of("unmade");
	c.device = -3;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "device -3");
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(NULL, &g), "ng_config is NULL");
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, NULL), "guard is NULL");
}

static void structs_of_other_versions(void) {
	struct { ng_config c; uint64_t later; } newer = {.c = config_of("versions")};
	ng_guard g;
	newer.c.struct_size = sizeof newer;
	CHECK(ng_guard_new(&newer.c, &g) == NG_OK);
	CHECK(ng_close(g) == NG_OK);
	newer.later = 1;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&newer.c, &g), "does not have");

	ng_config older = config_of("versions");
	memset((char *)&older + 24, 0xff, sizeof older - 24); /* not part of a 24-byte struct */
	older.struct_size = 24;
	CHECK(ng_guard_new(&older, &g) == NG_OK);
	CHECK(ng_close(g) == NG_OK);
	older.struct_size = 0;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&older, &g), "struct_size");
}

static void text_is_cut_and_terminated(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("text");
	ng_ref ref = ref_of(x, ENVS, COLS);
	CHECK(bind(g, "qvel", &ref) == NG_OK);
	char whole[512], part[8];
	CHECK(ng_plan(g, whole, sizeof whole) == NG_OK);
	CHECK(strstr(whole, "qvel") != NULL);
	memset(part, 'x', sizeof part);
	FAILS(NG_ERR_BUFFER, ng_plan(g, part, sizeof part), "the buffer has 8");
	CHECK(strlen(part) == sizeof part - 1 && strncmp(part, whole, 7) == 0);
	CHECK(ng_plan(g, NULL, 0) == NG_ERR_BUFFER);
	CHECK(ng_last_error(part, 1) == NG_ERR_BUFFER && part[0] == 0);
	CHECK(ng_last_error(NULL, 0) == NG_ERR_BUFFER);
	CHECK(ng_version(whole, sizeof whole) == NG_OK);
	CHECK(ng_close(g) == NG_OK);
}

static void handles_are_not_used_again(void) {
	ng_guard a = guard_of("handles"), b = guard_of("handles");
	ng_verdict v = {.struct_size = sizeof v};
	CHECK(a != 0 && b != 0 && a != b);
	CHECK(ng_close(a) == NG_OK);
	ng_guard c = guard_of("handles");
	CHECK(c != a && c != b);
	FAILS(NG_ERR_HANDLE, ng_check(a, NG_STEP, NULL, 0, NULL), "closed");
	FAILS(NG_ERR_HANDLE, ng_check(0, NG_STEP, NULL, 0, NULL), "never made");
	FAILS(NG_ERR_HANDLE, ng_poll(c + 1000, &v), "never made");
	FAILS(NG_ERR_HANDLE, ng_dump(a, "x", NULL, 0, NULL, 0), "closed");
	FAILS(NG_ERR_HANDLE, ng_fact(a, "x", "1"), "closed");
	FAILS(NG_ERR_HANDLE, ng_close(c + 1000), "never made");
	CHECK(ng_close(a) == NG_OK); /* left alone */
	CHECK(ng_close(b) == NG_OK);
	CHECK(ng_close(c) == NG_OK);
}

static void a_field_that_cannot_be_bound(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("bind");
	ng_ref ref = ref_of(x, ENVS, COLS), bad;
	ng_field f = {.struct_size = sizeof f, .name = "qvel"};
	int32_t id = 5;
	bad = ref, bad.dtype = 99;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &bad, &id), "dtype 99");
	CHECK(id == -1);
	bad = ref, bad.rows = ENVS - 1;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &bad, &id), "want 8 rows");
	bad = ref, bad.rows = 0;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &bad, &id), "0 rows");
	bad = ref, bad.cols = INT64_MAX;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &bad, &id), "columns");
	bad = ref, bad.memory = 9;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &bad, &id), "memory 9");
	f.name = NULL;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "name is NULL");
	f.name = "no such name";
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "no such name");
	f.name = "qvel", f.clock = 17;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "clock 17");
	f.clock = 0, f.stage = "stage of theatre";
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "stage of theatre");
	const char *two[] = {"a", "b"}, *three[] = {"a", "b", NULL};
	f.stage = NULL, f.cols = two, f.n_cols = 2;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "2 labels for 3 columns");
	f.cols = three, f.n_cols = 3;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &id), "label 2 is NULL");
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, NULL, &ref, &id), "ng_field is NULL");
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, NULL, &id), "ng_ref is NULL");
	CHECK(ng_close(g) == NG_OK);
}

static void a_guard_of_the_host_takes_no_memory_of_a_gpu(void) {
	ng_config c = config_of("host");
	c.device = NG_DEVICE_HOST;
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	float x[ENVS * COLS] = {0};
	ng_ref ref = ref_of(x, ENVS, COLS);
	ref.memory = NG_CUDA;
	FAILS(NG_ERR_ARGUMENT, bind(g, "qvel", &ref), "made for the host");
	CHECK(ng_close(g) == NG_OK);
}

static void memory_of_a_gpu_needs_one(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("gpu");
	ng_ref ref = ref_of(x, ENVS, COLS);
	ref.memory = NG_CUDA;
	int code = bind(g, "qvel", &ref); /* with a GPU it is bound, since nothing is read yet */
	if (code != NG_OK) FAILS(NG_ERR_UNSUPPORTED, bind(g, "qvel", &ref), "qvel");
	CHECK(ng_close(g) == NG_OK);
}

static void finite_values_may_trip_too(void) {
	float x[ENVS] = {0};
	ng_guard g = guard_of("limits");
	ng_ref ref = ref_of(x, ENVS, 1);
	ng_field f = {.struct_size = sizeof f, .name = "reward", .limit = -1};
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &ref.field), "limit -1");
	f.limit = 10, f.growth_factor = 4, f.growth_frames = 1;
	FAILS(NG_ERR_ARGUMENT, ng_bind(g, &f, &ref, &ref.field), "growth over 1 frames");
	f.growth_frames = 3, f.growth_floor = 1;
	CHECK(ng_bind(g, &f, &ref, &ref.field) == NG_OK);
	for (int i = 0; i < 4; i++) {
		x[2] = 1.5f + i;
		CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_OK);
	}
	x[2] = 9.5f;
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_OK);
	x[3] = -10.5f;
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_TRIPPED);
	ng_verdict v = verdict_of(g);
	CHECK(v.value_class == NG_LIMIT && v.env == 3 && v.tick == 6);
	CHECK(ng_close(g) == NG_OK);
	ng_config c = config_of("limits");
	c.cooldown_s = -1;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "cooldown");
	c.cooldown_s = NAN;
	FAILS(NG_ERR_ARGUMENT, ng_guard_new(&c, &g), "cooldown");
}

static void the_first_bad_value_is_found(void) {
	float qvel[ENVS * COLS] = {0}, obs[ENVS * COLS] = {0};
	ng_config c = config_of("trip");
	c.run_json = "{\"command\": [\"./contract\"], \"rank\": 0, \"seed\": 7}";
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	ng_ref refs[] = {ref_of(obs, ENVS, COLS), ref_of(qvel, ENVS, COLS)};
	const char *labels[] = {"hip", "knee", "ankle"};
	ng_field f = {.struct_size = sizeof f, .name = "qvel", .unit = "rad/s", .cols = labels, .n_cols = 3, .clock = NG_STEP};
	CHECK(bind(g, "obs.policy", &refs[0]) == NG_OK);
	CHECK(ng_bind(g, &f, &refs[1], &refs[1].field) == NG_OK);
	CHECK(ng_fact(g, "sim.timestep", "0.005") == NG_OK);
	CHECK(ng_fact(g, "policy.std_param", "\"scalar\"") == NG_OK);
	CHECK(ng_fact(g, "amp.enabled", "false") == NG_OK);
	CHECK(ng_fact(g, "normalizer.count", "4096") == NG_OK);
	CHECK(ng_fact(g, "lr.last", "NaN") == NG_OK);
	int64_t envs[] = {3, 5};
	ng_event e = {.struct_size = sizeof e, .kind = "dr", .name = "friction", .envs = envs, .n_envs = 2, .detail_json = "{\"low\": 0.3}"};
	CHECK(ng_note(g, &e) == NG_OK);
	ng_verdict none = {.struct_size = sizeof none};
	for (int i = 0; i < 5; i++) CHECK(ng_check(g, NG_STEP, refs, 2, NULL) == NG_OK);
	CHECK(ng_check_same(g, NG_STEP, refs, 2, NULL) == NG_OK);
	CHECK(ng_poll(g, &none) == NG_OK);
	qvel[3 * COLS + 1] = -INFINITY;
	obs[5 * COLS + 2] = NAN;
	CHECK(ng_check(g, NG_STEP, refs, 2, NULL) == NG_TRIPPED);
	ng_verdict v = verdict_of(g);
	CHECK(strcmp(v.field, "qvel") == 0 && v.env == 3 && v.col == 1 && v.value_class == NG_NEGINF);
	CHECK(v.tick == 7 && v.count == 6 && v.clock == NG_STEP && v.done == 1);
	CHECK(exists(v.path) && v.error[0] == 0);
	CHECK(ng_poll(g, &none) == NG_TRIPPED && strcmp(none.path, v.path) == 0);
	char path[NG_PATH_MAX] = "";
	FAILS(NG_ERR_NO_DUMPS, ng_dump(g, "more", NULL, 0, path, sizeof path), "no dumps left");
	CHECK(strcmp(path, v.path) == 0);
	CHECK(ng_close(g) == NG_OK);
}

static void a_dump_on_request(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("asked");
	ng_ref ref = ref_of(x, ENVS, COLS);
	CHECK(bind(g, "qvel", &ref) == NG_OK);
	CHECK(ng_check(g, NG_SUBSTEP, NULL, 0, NULL) == NG_OK); /* every field of the clock, where it was bound */
	int64_t suspects[] = {6, ENVS, 2};
	char path[NG_PATH_MAX] = "";
	FAILS(NG_ERR_ARGUMENT, ng_dump(g, "odd", NULL, 1, path, sizeof path), "envs");
	CHECK(ng_dump(g, "the gait looks odd", suspects, 3, path, sizeof path) == NG_OK);
	CHECK(exists(path));
	CHECK(ng_close(g) == NG_OK);
}

static void strides_are_followed(void) {
	float x[2 * ENVS * COLS]; /* every other row, columns backwards; NaN in between */
	for (int i = 0; i < 2 * ENVS * COLS; i++) x[i] = i / COLS % 2 ? NAN : 1;
	ng_guard g = guard_of("strides");
	ng_ref ref = ref_of(x, ENVS, COLS);
	ref.address = x + COLS - 1, ref.row_stride = 2 * COLS * 4, ref.col_stride = -4;
	CHECK(bind(g, "qvel", &ref) == NG_OK);
	CHECK(ng_check(g, NG_SUBSTEP, &ref, 1, NULL) == NG_OK);
	x[2 * 5 * COLS + 2] = NAN;
	CHECK(ng_check(g, NG_SUBSTEP, &ref, 1, NULL) == NG_TRIPPED);
	ng_verdict v = verdict_of(g);
	CHECK(v.env == 5 && v.col == 0);
	CHECK(ng_close(g) == NG_OK);
}

static void a_check_that_cannot_be_made_changes_nothing(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("refused");
	ng_ref ref = ref_of(x, ENVS, COLS), bad;
	CHECK(bind(g, "qvel", &ref) == NG_OK);
	CHECK(ng_check(g, NG_SUBSTEP, &ref, 1, NULL) == NG_OK);
	bad = ref, bad.cols = COLS - 1;
	FAILS(NG_ERR_CHANGED, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "8 x 3 when it was bound");
	bad = ref, bad.dtype = NG_FLOAT64;
	FAILS(NG_ERR_CHANGED, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "float32 when it was bound");
	bad = ref, bad.rows = 0;
	FAILS(NG_ERR_CHANGED, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "0 x 3");
	bad = ref, bad.field = 12;
	FAILS(NG_ERR_ARGUMENT, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "id 12");
	bad = ref, bad.struct_size = 8;
	FAILS(NG_ERR_ARGUMENT, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "struct_size");
	bad = ref, bad.address = NULL;
	FAILS(NG_ERR_ARGUMENT, ng_check(g, NG_SUBSTEP, &bad, 1, NULL), "no address");
	FAILS(NG_ERR_ARGUMENT, ng_check(g, NG_STEP, &ref, 1, NULL), "clock");
	FAILS(NG_ERR_ARGUMENT, ng_check(g, 9, &ref, 1, NULL), "clock 9");
	FAILS(NG_ERR_ARGUMENT, ng_check(g, NG_SUBSTEP, NULL, 1, NULL), "NULL");
	x[0] = NAN;
	CHECK(ng_check(g, NG_SUBSTEP, &ref, 1, NULL) == NG_TRIPPED);
	ng_verdict v = verdict_of(g);
	CHECK(v.tick == 2 && v.count == 2);
	CHECK(ng_close(g) == NG_OK);
}

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

static void a_note_or_fact_that_makes_no_sense(void) {
	ng_guard g = guard_of("notes");
	ng_event e = {.struct_size = sizeof e};
	FAILS(NG_ERR_ARGUMENT, ng_note(g, &e), "kind");
	e.kind = "note", e.detail_json = "{";
	FAILS(NG_ERR_ARGUMENT, ng_note(g, &e), "detail_json");
	e.detail_json = NULL, e.n_envs = 3;
	FAILS(NG_ERR_ARGUMENT, ng_note(g, &e), "envs");
	FAILS(NG_ERR_ARGUMENT, ng_note(g, NULL), "NULL");
	FAILS(NG_ERR_ARGUMENT, ng_fact(g, "x", "[1]"), "want a number");
	FAILS(NG_ERR_ARGUMENT, ng_fact(g, "x", "1 2"), "not JSON");
	FAILS(NG_ERR_ARGUMENT, ng_fact(g, "x", NULL), "not JSON");
	FAILS(NG_ERR_ARGUMENT, ng_fact(g, NULL, "1"), "without a name");
	CHECK(ng_close(g) == NG_OK);
}

static void memory_that_is_gone(void) {
	size_t size = 1 << 16;
	ng_config c = config_of("gone");
	c.num_envs = (int64_t)size / 4;
	c.ring_bytes = 1 << 20;
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ng_ref ref = ref_of(p, c.num_envs, 1);
	CHECK(bind(g, "reward", &ref) == NG_OK);
	CHECK(ng_check(g, NG_STEP, NULL, 0, NULL) == NG_OK);
	munmap(p, size);
	FAILS(NG_ERR_OFF, ng_check(g, NG_STEP, NULL, 0, NULL), "the guard is off");
	FAILS(NG_ERR_OFF, ng_check(g, NG_STEP, &ref, 1, NULL), "the guard is off");
	char path[NG_PATH_MAX];
	CHECK(ng_dump(g, "what is left", NULL, 0, path, sizeof path) == NG_OK);
	CHECK(exists(path));
	CHECK(ng_close(g) == NG_OK);
}

static void a_dump_that_cannot_be_written(void) {
	ng_config c = config_of("unwritable");
	c.dir = "/dev/full/dumps";
	ng_guard g;
	float x[ENVS] = {NAN};
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	ng_ref ref = ref_of(x, ENVS, 1);
	CHECK(bind(g, "reward", &ref) == NG_OK);
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_TRIPPED); /* in the very first frame */
	ng_verdict v = verdict_of(g);
	CHECK(v.done == 1 && v.path[0] == 0 && strstr(v.error, "/dev/full") != NULL);
	char path[NG_PATH_MAX] = "x";
	FAILS(NG_ERR_WRITE, ng_dump(g, "again", NULL, 0, path, sizeof path), "/dev/full");
	CHECK(path[0] == 0);
	FAILS(NG_ERR_WRITE, ng_close(g), "/dev/full");
	CHECK(ng_close(g) == NG_OK);
}

static void *fails_in_its_own_way(void *arg) {
	ng_config c = config_of("unused");
	ng_guard g;
	char want[32];
	int n = *(int *)arg;
	c.device = -100 - n;
	snprintf(want, sizeof want, "device %d", c.device);
	for (int i = 0; i < 500; i++) {
		CHECK(ng_guard_new(&c, &g) == NG_ERR_ARGUMENT);
		CHECK(strstr(last_error(), want) != NULL);
	}
	return NULL;
}

static void the_error_text_is_the_threads_own(void) {
	pthread_t threads[4];
	int numbers[4];
	ng_close(1 << 30);
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, fails_in_its_own_way, &numbers[i]);
	}
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	CHECK(strstr(last_error(), "never made") != NULL);
}

static ng_guard shared_guard;
static ng_ref shared_refs[4];

static void *checks_a_lot(void *arg) {
	int n = *(int *)arg;
	ng_verdict v = {.struct_size = sizeof v};
	for (int i = 0; i < 2000; i++) {
		CHECK(ng_check(shared_guard, NG_STEP, &shared_refs[n], 1, NULL) >= 0);
		CHECK(ng_poll(shared_guard, &v) >= 0);
		CHECK(ng_fact(shared_guard, "i", "1") == NG_OK);
	}
	return NULL;
}

static void one_guard_in_four_threads(void) {
	float x[4][ENVS] = {{0}};
	const char *names[] = {"reward", "reward.a", "reward.b", "reward.c"};
	pthread_t threads[4];
	int numbers[4];
	shared_guard = guard_of("threads");
	for (int i = 0; i < 4; i++) {
		shared_refs[i] = ref_of(x[i], ENVS, 1);
		CHECK(bind(shared_guard, names[i], &shared_refs[i]) == NG_OK);
	}
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, checks_a_lot, &numbers[i]);
	}
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	x[2][1] = INFINITY;
	CHECK(ng_check(shared_guard, NG_STEP, shared_refs, 4, NULL) == NG_TRIPPED);
	ng_verdict v = verdict_of(shared_guard);
	CHECK(v.tick == 8001 && v.env == 1 && strcmp(v.field, "reward.b") == 0);
	CHECK(ng_close(shared_guard) == NG_OK);
}

static void a_forked_child_is_refused(void) {
	float x[ENVS] = {0};
	ng_guard g = guard_of("fork");
	ng_ref ref = ref_of(x, ENVS, 1);
	CHECK(bind(g, "reward", &ref) == NG_OK);
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_OK);
	pid_t child = fork();
	if (child == 0) {
		alarm(20); /* a call that entered Go would never return */
		ng_config c;
		ng_guard other;
		char text[64];
		ng_verdict v = {.struct_size = sizeof v};
		FAILS(NG_ERR_FORK, ng_check(g, NG_STEP, &ref, 1, NULL), "was forked");
		CHECK(ng_config_init(&c) == NG_ERR_FORK && ng_guard_new(&c, &other) == NG_ERR_FORK);
		CHECK(ng_poll(g, &v) == NG_ERR_FORK && ng_wait(g, &v) == NG_ERR_FORK && ng_dump(g, "", NULL, 0, NULL, 0) == NG_ERR_FORK);
		CHECK(ng_fact(g, "a", "1") == NG_ERR_FORK && ng_note(g, NULL) == NG_ERR_FORK && ng_plan(g, text, sizeof text) == NG_ERR_FORK);
		CHECK(ng_check_same(g, NG_STEP, &ref, 1, NULL) == NG_ERR_FORK && ng_bind(g, NULL, NULL, NULL) == NG_ERR_FORK);
		CHECK(ng_close(g) == NG_ERR_FORK && ng_version(text, sizeof text) == NG_ERR_FORK && ng_scan(&ref, NULL) == NG_ERR_FORK);
		CHECK(ng_sizeof("ng_ref") == sizeof(ng_ref));
		_exit(failures != 0);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_OK);
	CHECK(ng_close(g) == NG_OK);
}

static long resident_kb(void) {
	long size, resident;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2) return 0;
	fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void memory_does_not_grow(long checks) {
	float x[ENVS] = {0};
	ng_guard g = guard_of("growth");
	ng_ref ref = ref_of(x, ENVS, 1);
	CHECK(bind(g, "reward", &ref) == NG_OK);
	long before = 0;
	for (long i = 0; i < checks; i++) {
		if (i == checks / 10) before = resident_kb();
		if (ng_check(g, NG_STEP, &ref, 1, NULL) != NG_OK) CHECK(!"a clean check");
	}
	long grown = resident_kb() - before;
	CHECK(grown < 4096);
	for (int i = 0; i < 2000; i++) { /* guards come and go */
		ng_guard other = guard_of("growth");
		CHECK(ng_close(other) == NG_OK);
	}
	CHECK(ng_close(g) == NG_OK);
	printf("%ld checks: %ld kB more\n", checks, grown);
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	dir = argv[1];
	sizes_agree();
	defaults_are_those_of_the_header();
	a_failed_constructor_says_why();
	structs_of_other_versions();
	text_is_cut_and_terminated();
	handles_are_not_used_again();
	a_field_that_cannot_be_bound();
	a_guard_of_the_host_takes_no_memory_of_a_gpu();
	memory_of_a_gpu_needs_one();
	finite_values_may_trip_too();
	the_first_bad_value_is_found();
	a_dump_on_request();
	strides_are_followed();
	a_check_that_cannot_be_made_changes_nothing();
	a_scan_needs_no_guard();
	a_scan_that_cannot_be_made();
	a_note_or_fact_that_makes_no_sense();
	memory_that_is_gone();
	a_dump_that_cannot_be_written();
	the_error_text_is_the_threads_own();
	one_guard_in_four_threads();
	a_forked_child_is_refused();
	memory_does_not_grow(atol(argv[2]));
	if (failures > 0) fprintf(stderr, "%d promises broken\n", failures);
	return failures != 0;
}
