/* The interface itself: sizes, defaults, versions of its structs, text, handles. */
#define _GNU_SOURCE
#include "contract.h"

#include <dlfcn.h>

static void sizes_agree(void) {
	CHECK(ng_sizeof("ng_config") == sizeof(ng_config));
	CHECK(ng_sizeof("ng_field") == sizeof(ng_field));
	CHECK(ng_sizeof("ng_ref") == sizeof(ng_ref));
	CHECK(ng_sizeof("ng_event") == sizeof(ng_event));
	CHECK(ng_sizeof("ng_verdict") == sizeof(ng_verdict));
	CHECK(ng_sizeof("ng_summary") == sizeof(ng_summary));
	CHECK(ng_sizeof("ng_known") == sizeof(ng_known));
	CHECK(ng_sizeof("ng_known_checks") == sizeof(ng_known_checks));
	CHECK(ng_sizeof("ng_nothing") == 0 && ng_sizeof(NULL) == 0);
	CHECK(ng_abi() == NG_ABI && NG_ABI > 1);
}

/* A name that a program or another library may well have too would be taken for theirs. */
static void only_its_own_names_are_visible(void) {
	CHECK(dlsym(RTLD_DEFAULT, "ng_check") != NULL);
	CHECK(dlsym(RTLD_DEFAULT, "repeat") == NULL);
	CHECK(dlsym(RTLD_DEFAULT, "repeat_guards") == NULL);
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
	CHECK(bind_field(g, "qvel", &ref) == NG_OK);
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

void interface_keeps_its_promises(void) {
	sizes_agree();
	only_its_own_names_are_visible();
	defaults_are_those_of_the_header();
	a_failed_constructor_says_why();
	structs_of_other_versions();
	text_is_cut_and_terminated();
	handles_are_not_used_again();
}
