/* A guard at work: what it takes and refuses, what it finds, its dumps. */
#define _GNU_SOURCE
#include "contract.h"

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
	FAILS(NG_ERR_ARGUMENT, bind_field(g, "qvel", &ref), "made for the host");
	CHECK(ng_close(g) == NG_OK);
}

static void memory_of_a_gpu_needs_one(void) {
	float x[ENVS * COLS] = {0};
	ng_guard g = guard_of("gpu");
	ng_ref ref = ref_of(x, ENVS, COLS);
	ref.memory = NG_CUDA;
	int code = bind_field(g, "qvel", &ref); /* with a GPU it is bound, since nothing is read yet */
	if (code != NG_OK) FAILS(NG_ERR_UNSUPPORTED, bind_field(g, "qvel", &ref), "qvel");
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
	CHECK(bind_field(g, "obs.policy", &refs[0]) == NG_OK);
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
	CHECK(v.tick == 7 && v.count == 6 && v.clock == NG_STEP && v.done == 1 && v.number == 1);
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
	CHECK(bind_field(g, "qvel", &ref) == NG_OK);
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
	CHECK(bind_field(g, "qvel", &ref) == NG_OK);
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
	CHECK(bind_field(g, "qvel", &ref) == NG_OK);
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

static void a_dump_that_cannot_be_written(void) {
	ng_config c = config_of("unwritable");
	c.dir = "/dev/full/dumps";
	ng_guard g;
	float x[ENVS] = {NAN};
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	ng_ref ref = ref_of(x, ENVS, 1);
	CHECK(bind_field(g, "reward", &ref) == NG_OK);
	CHECK(ng_check(g, NG_STEP, &ref, 1, NULL) == NG_TRIPPED); /* in the very first frame */
	ng_verdict v = verdict_of(g);
	CHECK(v.done == 1 && v.path[0] == 0 && strstr(v.error, "/dev/full") != NULL);
	char path[NG_PATH_MAX] = "x";
	FAILS(NG_ERR_WRITE, ng_dump(g, "again", NULL, 0, path, sizeof path), "/dev/full");
	CHECK(path[0] == 0);
	FAILS(NG_ERR_WRITE, ng_close(g), "/dev/full");
	CHECK(ng_close(g) == NG_OK);
}

void guard_keeps_its_promises(void) {
	a_field_that_cannot_be_bound();
	a_guard_of_the_host_takes_no_memory_of_a_gpu();
	memory_of_a_gpu_needs_one();
	finite_values_may_trip_too();
	the_first_bad_value_is_found();
	a_dump_on_request();
	strides_are_followed();
	a_check_that_cannot_be_made_changes_nothing();
	a_note_or_fact_that_makes_no_sense();
	a_dump_that_cannot_be_written();
}
