/*
 * The functions of nanguard.h: each refuses what must not reach Go (a forked
 * child would wait there for ever), takes structs of other versions, keeps the
 * error text of the thread, and calls the Go function of the same name.
 */
#include "exports.h"
#include "repeat.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(void *) == 8, "nanguard needs a 64-bit system");
_Static_assert(sizeof(ng_config) == 88, "ng_config has another size than version 1");
_Static_assert(sizeof(ng_field) == 88, "ng_field has another size than version 1");
_Static_assert(sizeof(ng_ref) == 64, "ng_ref has another size than version 1");
_Static_assert(sizeof(ng_event) == 56, "ng_event has another size than version 1");
_Static_assert(offsetof(ng_verdict, number) == 5424, "ng_verdict has another size than version 1");
_Static_assert(sizeof(ng_summary) == 96, "ng_summary has another size than version 1");

/* The process that loaded the library. */
static pid_t home;

/* The text of each thread's latest failure. It does not lie in thread-local
 * storage: Go's makes the library's static, and a process that is running has
 * hardly any room left for that when it loads a library. */
static pthread_key_t error_key;

enum { ERROR_SIZE = 4096 };

__attribute__((constructor)) static void loaded(void) {
	home = getpid();
	pthread_key_create(&error_key, free);
}

/* Returns the buffer of this thread, an empty one when there is no memory. */
static text_buffer error_text(void) {
	char *data = pthread_getspecific(error_key);
	if (data == NULL) {
		data = calloc(1, ERROR_SIZE);
		pthread_setspecific(error_key, data);
	}
	return (text_buffer){.data = data, .size = data == NULL ? 0 : ERROR_SIZE};
}

__attribute__((format(printf, 2, 3))) static int fail(int code, const char *format, ...) {
	text_buffer error = error_text();
	va_list args;
	va_start(args, format);
	if (error.data != NULL) vsnprintf(error.data, error.size, format, args);
	va_end(args);
	return code;
}

/* Returns NG_OK in the process that loaded the library. */
static int at_home(void) {
	pid_t here = getpid();
	if (here == home) return NG_OK;
	return fail(NG_ERR_FORK, "process %ld was forked from process %ld, which loaded nanguard: "
		"a guard lives in one process (start workers with spawn, or before the guard is made)",
		(long)here, (long)home);
}

#define HOME_OR_RETURN() do { int code_ = at_home(); if (code_ != NG_OK) return code_; } while (0)

static int missing(const char *call, const char *what) {
	return fail(NG_ERR_ARGUMENT, "%s: %s is NULL", call, what);
}

/* Copies a struct of the caller's, which may be of another version, to one of
 * ours. */
static int take(void *to, uint32_t size, const void *from, const char *call, const char *what) {
	uint32_t theirs;
	if (from == NULL) return missing(call, what);
	memcpy(&theirs, from, sizeof theirs);
	if (theirs < sizeof theirs || theirs > 1 << 16)
		return fail(NG_ERR_ARGUMENT, "%s: struct_size of %s is %u, want sizeof(%s), here %u", call, what, theirs, what, size);
	for (uint32_t i = size; i < theirs; i++) {
		if (((const unsigned char *)from)[i] != 0)
			return fail(NG_ERR_ARGUMENT, "%s: %s uses members that this library does not have (struct_size %u, here %u)", call, what, theirs, size);
	}
	memset(to, 0, size);
	memcpy(to, from, theirs < size ? theirs : size);
	memcpy(to, &size, sizeof size);
	return NG_OK;
}

/* Copies text to the caller's buffer through f and says so when it was cut. */
static int give(const char *call, int code, const text_buffer *text) {
	if (code != NG_OK || text->need <= text->size) return code;
	return fail(NG_ERR_BUFFER, "%s: the text takes %zu bytes, the buffer has %zu", call, text->need, text->size);
}

int ng_config_init(ng_config *config) {
	HOME_OR_RETURN();
	if (config == NULL) return missing("config_init", "ng_config");
	text_buffer error = error_text();
	return goConfigInit(config, &error);
}

int ng_guard_new(const ng_config *config, ng_guard *guard) {
	HOME_OR_RETURN();
	if (guard == NULL) return missing("guard_new", "guard");
	*guard = 0;
	ng_config ours;
	int code = take(&ours, sizeof ours, config, "guard_new", "ng_config");
	if (code != NG_OK) return code;
	text_buffer error = error_text();
	return goGuardNew(&ours, guard, &error);
}

int ng_bind(ng_guard guard, const ng_field *field, const ng_ref *ref, int32_t *id) {
	HOME_OR_RETURN();
	if (id == NULL) return missing("bind", "id");
	*id = -1;
	ng_field our_field;
	ng_ref our_ref;
	int code = take(&our_field, sizeof our_field, field, "bind", "ng_field");
	if (code == NG_OK) code = take(&our_ref, sizeof our_ref, ref, "bind", "ng_ref");
	if (code != NG_OK) return code;
	text_buffer error = error_text();
	return goBind(guard, &our_field, &our_ref, id, &error);
}

static int check(ng_guard guard, int32_t clock, int32_t advance, const ng_ref *refs, uint32_t n, void *stream) {
	HOME_OR_RETURN();
	int code = repeat(guard, clock, advance, refs, n, stream);
	if (code != REPEAT_NOT) return code;
	text_buffer error = error_text();
	return goCheck(guard, clock, advance, refs, n, stream, &error);
}

int ng_check(ng_guard guard, int32_t clock, const ng_ref *refs, uint32_t n, void *stream) {
	return check(guard, clock, 1, refs, n, stream);
}

int ng_check_same(ng_guard guard, int32_t clock, const ng_ref *refs, uint32_t n, void *stream) {
	return check(guard, clock, 0, refs, n, stream);
}

/* What comes out goes to a struct of ours first, because the caller's, to which
 * bring copies it, may be shorter. room says how long it is. */
static int room(uint32_t theirs, const char *call, const char *what) {
	if (theirs >= sizeof theirs) return NG_OK;
	return fail(NG_ERR_ARGUMENT, "%s: struct_size of %s is %u, want sizeof(%s)", call, what, theirs, what);
}

static void bring(void *to, uint32_t theirs, void *ours, size_t size) {
	memcpy(ours, &theirs, sizeof theirs);
	memcpy(to, ours, theirs < size ? theirs : size);
}

static int poll(ng_guard guard, int32_t wait, ng_verdict *verdict, const char *call) {
	HOME_OR_RETURN();
	if (verdict == NULL) return missing(call, "ng_verdict");
	int code = room(verdict->struct_size, call, "ng_verdict");
	if (code != NG_OK) return code;
	ng_verdict ours;
	memset(&ours, 0, sizeof ours);
	text_buffer error = error_text();
	code = goPoll(guard, wait, &ours, &error);
	if (code == NG_TRIPPED) bring(verdict, verdict->struct_size, &ours, sizeof ours);
	return code;
}

int ng_poll(ng_guard guard, ng_verdict *verdict) { return poll(guard, 0, verdict, "poll"); }

int ng_wait(ng_guard guard, ng_verdict *verdict) { return poll(guard, 1, verdict, "wait"); }

int ng_dump(ng_guard guard, const char *reason, const int64_t *suspects, int64_t n_suspects, char *path, size_t size) {
	HOME_OR_RETURN();
	text_buffer text = {.data = path, .size = path == NULL ? 0 : size}, error = error_text();
	int code = goDump(guard, reason, suspects, n_suspects, &text, &error);
	return path == NULL ? code : give("dump", code, &text);
}

int ng_note(ng_guard guard, const ng_event *event) {
	HOME_OR_RETURN();
	ng_event ours;
	int code = take(&ours, sizeof ours, event, "note", "ng_event");
	if (code != NG_OK) return code;
	text_buffer error = error_text();
	return goNote(guard, &ours, &error);
}

int ng_fact(ng_guard guard, const char *name, const char *value_json) {
	HOME_OR_RETURN();
	text_buffer error = error_text();
	return goFact(guard, name, value_json, &error);
}

int ng_plan(ng_guard guard, char *text, size_t size) {
	HOME_OR_RETURN();
	text_buffer out = {.data = text, .size = text == NULL ? 0 : size}, error = error_text();
	return give("plan", goPlan(guard, &out, &error), &out);
}

int ng_scan(const ng_ref *ref, ng_summary *summary) {
	HOME_OR_RETURN();
	ng_ref our_ref;
	ng_summary ours;
	int code = take(&our_ref, sizeof our_ref, ref, "scan", "ng_ref");
	if (code == NG_OK && summary != NULL) code = room(summary->struct_size, "scan", "ng_summary");
	if (code != NG_OK) return code;
	memset(&ours, 0, sizeof ours);
	text_buffer error = error_text();
	code = goScan(&our_ref, summary == NULL ? NULL : &ours, &error);
	if (code >= 0 && summary != NULL) bring(summary, summary->struct_size, &ours, sizeof ours);
	return code;
}

int ng_close(ng_guard guard) {
	HOME_OR_RETURN();
	text_buffer error = error_text();
	return goClose(guard, &error);
}

int ng_last_error(char *text, size_t size) {
	const char *error = pthread_getspecific(error_key);
	if (error == NULL) error = "";
	size_t need = strlen(error) + 1;
	if (text != NULL && size > 0) snprintf(text, size, "%s", error);
	return need <= size ? NG_OK : NG_ERR_BUFFER;
}

int ng_version(char *text, size_t size) {
	HOME_OR_RETURN();
	text_buffer out = {.data = text, .size = text == NULL ? 0 : size}, error = error_text();
	return give("version", goVersion(&out, &error), &out);
}

uint32_t ng_abi(void) { return NG_ABI; }

size_t ng_sizeof(const char *struct_name) {
	static const struct { const char *name; size_t size; } sizes[] = {
		{"ng_config", sizeof(ng_config)}, {"ng_field", sizeof(ng_field)}, {"ng_ref", sizeof(ng_ref)},
		{"ng_event", sizeof(ng_event)}, {"ng_verdict", sizeof(ng_verdict)}, {"ng_summary", sizeof(ng_summary)},
		{"ng_known", sizeof(ng_known)}, {"ng_known_checks", sizeof(ng_known_checks)},
	};
	for (size_t i = 0; struct_name != NULL && i < sizeof sizes / sizeof *sizes; i++) {
		if (strcmp(sizes[i].name, struct_name) == 0) return sizes[i].size;
	}
	return 0;
}
