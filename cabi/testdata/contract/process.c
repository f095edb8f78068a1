/* The process around a guard: memory that goes, threads, forks, memory that must not grow. */
#define _GNU_SOURCE
#include "contract.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void memory_that_is_gone(void) {
	size_t size = 1 << 16;
	ng_config c = config_of("gone");
	c.num_envs = (int64_t)size / 4;
	c.ring_bytes = 1 << 20;
	ng_guard g;
	CHECK(ng_guard_new(&c, &g) == NG_OK);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ng_ref ref = ref_of(p, c.num_envs, 1);
	CHECK(bind_field(g, "reward", &ref) == NG_OK);
	CHECK(ng_check(g, NG_STEP, NULL, 0, NULL) == NG_OK);
	munmap(p, size);
	FAILS(NG_ERR_OFF, ng_check(g, NG_STEP, NULL, 0, NULL), "the guard is off");
	FAILS(NG_ERR_OFF, ng_check(g, NG_STEP, &ref, 1, NULL), "the guard is off");
	char path[NG_PATH_MAX];
	CHECK(ng_dump(g, "what is left", NULL, 0, path, sizeof path) == NG_OK);
	CHECK(exists(path));
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
		CHECK(bind_field(shared_guard, names[i], &shared_refs[i]) == NG_OK);
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
	CHECK(bind_field(g, "reward", &ref) == NG_OK);
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
	CHECK(bind_field(g, "reward", &ref) == NG_OK);
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

void process_keeps_its_promises(long checks) {
	memory_that_is_gone();
	the_error_text_is_the_threads_own();
	one_guard_in_four_threads();
	a_forked_child_is_refused();
	memory_does_not_grow(checks);
}
