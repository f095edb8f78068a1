/*
 * A check that Python made before, made again by one call of a built-in function:
 * it finds the check by the names of its arrays, asks their framework where they
 * are, and has them checked. A call that comes once in 10 ms finds the caches full of
 * other code and data; done in Python and through ctypes, the same takes 50 us
 * more then (bench/results/h200-python.md).
 *
 * The functions of the interpreter are found by name, so that the library goes with
 * every version and needs none: those below are of its stable ABI.
 */
#define _GNU_SOURCE
#include "exchange.h"

#include <dlfcn.h>

typedef void object; /* a PyObject */

enum { METH_FASTCALL = 0x80, FIELDS = 64 };

typedef struct {
	const char *name;
	object *(*call)(object *self, object *const *args, intptr_t n);
	int flags;
	const char *doc;
} method_def; /* a PyMethodDef */

static struct {
	object *none, *dict, *text; /* None and the types */
	int (*next)(object *dict, intptr_t *at, object **key, object **value);
	int (*compare)(object *text, object *other);
	void *(*address)(object *number);
	object *(*number)(long value);
	void (*forget_error)(void);
	void (*keep)(object *);
	void (*release)(object *);
} py;

static int found; /* all of them */

__attribute__((constructor)) static void find_all(void) {
	const struct { void *to; const char *name; } names[] = {
		{&py.none, "_Py_NoneStruct"}, {&py.dict, "PyDict_Type"}, {&py.text, "PyUnicode_Type"},
		{&py.next, "PyDict_Next"}, {&py.compare, "PyUnicode_Compare"}, {&py.address, "PyLong_AsVoidPtr"},
		{&py.number, "PyLong_FromLong"}, {&py.forget_error, "PyErr_Clear"}, {&py.keep, "Py_IncRef"}, {&py.release, "Py_DecRef"},
	};
	found = 1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if ((*(void **)names[i].to = dlsym(RTLD_DEFAULT, names[i].name)) == NULL) found = 0;
	}
}

static object *type_of(object *x, size_t type_at) { return *(object **)((char *)x + type_at); }

static int same_text(const ng_known_checks *c, object *x, const void *was) {
	return x == was || (type_of(x, c->type_at) == py.text && py.compare(x, (object *)was) == 0);
}

/* Lists names and arrays of the mappings, None among them, in order; returns how many, -1 when they are not all plain. */
static int list(const ng_known_checks *c, object *const *maps, intptr_t n, object **names, object **arrays) {
	int count = 0;
	for (intptr_t i = 0; i < n; i++) {
		intptr_t at = 0;
		if (maps[i] == py.none) continue;
		if (type_of(maps[i], c->type_at) != py.dict) return -1;
		while (py.next(maps[i], &at, &names[count], &arrays[count])) {
			if (++count == FIELDS) return -1;
		}
	}
	return count;
}

/* Returns the check of a clock and of these names, NULL when it is not known or under way in another thread. */
static ng_known *find(const ng_known_checks *c, int32_t advance, object *clock, object *const *names, int n) {
	for (uint32_t k = 0; k < c->count; k++) {
		ng_known *known = &c->known[k];
		int i = 0;
		if (known->n != (uint32_t)n || known->advance != advance || !same_text(c, clock, known->clock_name)) continue;
		while (i < n && same_text(c, names[i], known->names[i])) i++;
		if (i == n) return known->busy ? NULL : known;
	}
	return NULL;
}

/* Has the objects and what the word behind their type points to, as a rule the
 * framework's own part, fetched into the caches all at once instead of one after the
 * other. An object of another type may end before that word. */
static void fetch(const ng_known_checks *c, const ng_source *sources, object *const *arrays, int n) {
	for (int i = 0; i < n; i++) __builtin_prefetch(arrays[i]);
	for (int i = 0; i < n; i++) {
		if (type_of(arrays[i], c->type_at) != sources[i].type) return;
		const char *own = ((char **)((char *)arrays[i] + c->type_at))[1];
		__builtin_prefetch(own); /* which may point anywhere */
		__builtin_prefetch(own + 64);
		__builtin_prefetch(own + 128);
	}
}

/* Called with a clock and mappings of arrays by name; returns the code of the check. */
static object *again(object *self, object *const *args, intptr_t n, int32_t advance) {
	const ng_known_checks *c = py.address(self);
	object *names[FIELDS], *arrays[FIELDS];
	int code = NG_UNLIKE, count = n > 0 ? list(c, args + 1, n - 1, names, arrays) : -1;
	ng_known *known = count > 0 ? find(c, advance, args[0], names, count) : NULL;
	if (known != NULL) {
		const ng_ref *refs = known->refs;
		fetch(c, known->sources, arrays, count);
		known->busy = 1; /* the check lets the interpreter's lock go */
		for (int i = 0; i < count; i++) py.keep(arrays[i]);
		code = check_objects(known, c->type_at, arrays);
		for (int i = 0; i < count; i++) py.release(arrays[i]);
		if (known->refs == refs) known->busy = 0; /* else it was learned anew meanwhile, and that is not this call's */
	}
	if (code == NG_UNLIKE) py.forget_error(); /* the framework's */
	return py.number(code);
}

static object *check(object *self, object *const *args, intptr_t n) { return again(self, args, n, 1); }
static object *check_same(object *self, object *const *args, intptr_t n) { return again(self, args, n, 0); }

const void *ng_python_method(int32_t advance) {
	static const method_def methods[] = {
		{"check_same", check_same, METH_FASTCALL, NULL},
		{"check", check, METH_FASTCALL, NULL},
	};
	return found ? &methods[advance != 0] : NULL;
}
