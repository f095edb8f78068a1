/*
 * The contract of nanguard.h, tried from C: every promise of the header that a
 * caller could rely on. usage: contract DIR CHECKS
 *
 * DIR takes the dumps, one folder per test; CHECKS is how many checks the test
 * of memory growth makes. It prints what broke and exits with 1 then.
 */
#define _GNU_SOURCE
#include "contract.h"

#include <sys/stat.h>

int failures;
const char *dir;
static char dump_dir[2048];

const char *last_error(void) {
	static _Thread_local char text[4096];
	ng_last_error(text, sizeof text);
	return text;
}

ng_config config_of(const char *name) {
	ng_config c;
	CHECK(ng_config_init(&c) == NG_OK);
	snprintf(dump_dir, sizeof dump_dir, "%s/%s", dir, name);
	c.num_envs = ENVS;
	c.ring_bytes = 1 << 16;
	c.dir = dump_dir;
	return c;
}

ng_guard guard_of(const char *name) {
	ng_config c = config_of(name);
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	return g;
}

ng_ref ref_of(float *values, int64_t rows, int64_t cols) {
	return (ng_ref){.struct_size = sizeof(ng_ref), .address = values, .rows = rows, .cols = cols,
		.row_stride = cols * 4, .col_stride = 4, .dtype = NG_FLOAT32};
}

int bind_field(ng_guard g, const char *name, ng_ref *ref) {
	ng_field f = {.struct_size = sizeof f, .name = name};
	return ng_bind(g, &f, ref, &ref->field);
}

ng_verdict verdict_of(ng_guard g) {
	ng_verdict v = {.struct_size = sizeof v};
	CHECK(ng_wait(g, &v) == NG_TRIPPED);
	return v;
}

int exists(const char *path) {
	struct stat s;
	return stat(path, &s) == 0 && s.st_size > 0;
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	dir = argv[1];
	interface_keeps_its_promises();
	guard_keeps_its_promises();
	scan_keeps_its_promises();
	process_keeps_its_promises(atol(argv[2]));
	if (failures > 0) fprintf(stderr, "%d promises broken\n", failures);
	return failures != 0;
}
