/*
 * nanguard: a guard that sees every value of the arrays of a training loop,
 * remembers the last frames of all envs, and writes a dump when one of them is
 * not finite.
 *
 *     ng_config config;
 *     ng_config_init(&config);
 *     config.num_envs = 4096;
 *     ng_guard guard;
 *     if (ng_guard_new(&config, &guard) != NG_OK) complain();
 *     ng_bind(guard, &field, &ref, &ref.field);
 *     for (;;) {
 *         step();
 *         if (ng_check(guard, NG_SUBSTEP, &ref, 1, stream) == NG_TRIPPED) ...
 *     }
 *     ng_close(guard);
 *
 * Codes. Every function returns NG_OK, NG_TRIPPED or a negative code, and
 * ng_last_error then has the reason as one line of text. A text is kept for
 * each thread: that of its latest call that failed.
 *
 * Handles are integers that are never used again. A call with one that was
 * closed, or never given out, is an error and nothing worse.
 *
 * Structs begin with struct_size, which the caller sets to sizeof the struct as
 * his header has it: a library that knows more members takes the missing ones
 * as zero, and one that knows fewer refuses what it would have to ignore.
 * Members named reserved are zero.
 *
 * Text. What goes in is UTF-8 and is copied before the call returns. What comes
 * out goes to a buffer of the caller's and always ends with a NUL; text that
 * does not fit is cut, and the call returns NG_ERR_BUFFER.
 *
 * Threads. Any function may be called from any thread. Checks of one guard are
 * carried out one after the other, in the order in which they come.
 *
 * Builds. A caller that loads the library at run time compares ng_abi() with
 * his NG_ABI before any other call.
 *
 * Fork. The library lives in the process that loaded it. In a forked child every
 * call returns NG_ERR_FORK and does nothing else.
 */
#ifndef NANGUARD_H
#define NANGUARD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever what is below changes for a caller that was compiled before:
 * another signature, meaning or number. A struct that grows at its end and a new
 * function do not raise it. */
#define NG_ABI 3

/* Codes. */
enum {
	NG_OK = 0,
	NG_TRIPPED = 1,         /* ng_check, ng_poll, ng_wait: there is a verdict; ng_scan: there is a bad value */
	NG_UNLIKE = 2,          /* ng_python_method's: no check like that was made before; nothing was checked */
	NG_ERR_ARGUMENT = -1,   /* a call that cannot be carried out as it was made; nothing changed */
	NG_ERR_HANDLE = -2,     /* the guard is closed, or was never made */
	NG_ERR_FORK = -3,       /* this process was forked from the one that loaded the library */
	NG_ERR_CHANGED = -4,    /* a field has another shape, dtype or memory than when it was bound */
	NG_ERR_OFF = -5,        /* reading a field faulted or the GPU was lost: the guard is off, what it holds can be dumped */
	NG_ERR_NO_DUMPS = -6,   /* the run has written max_dumps dumps */
	NG_ERR_WRITE = -7,      /* the dump, or what belongs beside it, could not be written */
	NG_ERR_BUFFER = -8,     /* the text did not fit into the caller's buffer */
	NG_ERR_INTERNAL = -9,   /* a bug of the library, kept from ending the process */
	NG_ERR_UNSUPPORTED = -10, /* a field is in memory of a GPU, and this machine cannot use CUDA */
	NG_ERR_GRAPH = -11,     /* checks are part of a CUDA graph, and the call would have to change that */
	NG_ERR_NOTHING_NEW = -12 /* nothing was recorded since the last dump: the guard rests after a trip */
};

/* Clocks: what counts the frames of a field. */
enum {
	NG_CLOCK_DEFAULT = 0,   /* that of the field's stage */
	NG_SUBSTEP = 1,         /* one physics step */
	NG_STEP = 2,            /* one env step */
	NG_MINIBATCH = 3,       /* one gradient step */
	NG_UPDATE = 4           /* one learner iteration */
};

/* Element types. Integers and bools are recorded; they are never bad. */
enum {
	NG_FLOAT16 = 1,
	NG_BFLOAT16 = 2,
	NG_FLOAT32 = 3,
	NG_FLOAT64 = 4,
	NG_INT8 = 5,
	NG_INT16 = 6,
	NG_INT32 = 7,
	NG_INT64 = 8,
	NG_UINT8 = 9,
	NG_UINT16 = 10,
	NG_UINT32 = 11,
	NG_UINT64 = 12,
	NG_BOOL = 13
};

/* Kinds of memory. */
enum {
	NG_HOST = 0,
	NG_CUDA = 1
};

/* Classes of a bad value. */
enum {
	NG_NAN = 1,
	NG_POSINF = 2,
	NG_NEGINF = 3,
	NG_LIMIT = 4,           /* finite, above the field's limit */
	NG_GROWTH = 5           /* finite, above what the field's growth allows */
};

/* Devices of a guard, beside 0 and up for a CUDA device. */
enum {
	NG_DEVICE_AUTO = -2,    /* wherever the fields are */
	NG_DEVICE_HOST = -1     /* fields in the memory of a GPU are refused */
};

/* A guard; 0 is none. */
typedef uint64_t ng_guard;

/* What a guard watches and keeps. Begin with ng_config_init. */
typedef struct ng_config {
	uint32_t struct_size;
	int32_t device;         /* NG_DEVICE_AUTO */
	int64_t num_envs;       /* rows of every field that has one per env; required */
	int64_t ring_bytes;     /* memory for the frames of all fields; 512 MiB */
	const char *dir;        /* folder of the dumps, made when it is first needed; NULL: "nan_dumps" */
	const char *model;      /* the simulator's model file, copied beside the dump; NULL: none */
	const char *run_json;   /* member "run" of the dump's manifest, as JSON; NULL: nothing known */
	int32_t max_frames;     /* frames of one field at most; 1,000 */
	int32_t trace_len;      /* checks that the trace of a field reaches back; 10,000 */
	int32_t post_frames;    /* frames of the tripping clock to record after the trip; 0 */
	int32_t max_envs;       /* culprits in the dump; 5 */
	int32_t control_envs;   /* healthy envs in the dump, for comparison; 2 */
	int32_t max_dumps;      /* dumps of the run, those that are asked for included; 1 */
	int32_t state_spec;     /* mjtState bits of the states_step entries; 0: unknown */
	uint32_t reserved;
	double cooldown_s;      /* seconds of rest after the dump of a trip, before the guard is armed again; 0 */
} ng_config;

/* What a field is. */
typedef struct ng_field {
	uint32_t struct_size;
	uint32_t shared;        /* 1: one row for the whole run instead of one per env */
	const char *name;       /* of the dump format: "qvel", "reward.upright", "policy.std" */
	const char *stage;      /* NULL: as the name says */
	const char *unit;       /* NULL: none */
	const char *const *cols; /* one label per column */
	int64_t n_cols;         /* 0: no labels */
	double order;           /* place in the loop; 0: from the name, then from the order of binding */
	int32_t clock;          /* NG_CLOCK_DEFAULT: that of the stage */
	int32_t growth_frames;  /* with growth_factor; at least 2 */
	double limit;           /* largest absolute value that is no trip; 0: no limit */
	double growth_factor;   /* how much larger the largest value may be than growth_frames before; 0: as much as it likes */
	double growth_floor;    /* below which growth is of no interest */
} ng_field;

/* Where the elements of a field are in this call. Strides are in bytes and may
 * be 0 (broadcast) or negative. */
typedef struct ng_ref {
	uint32_t struct_size;
	int32_t field;          /* id from ng_bind; ng_bind does not look at it */
	void *address;          /* of element (0, 0) */
	int64_t rows;           /* envs, or 1 */
	int64_t cols;           /* the rest, flattened */
	int64_t row_stride;
	int64_t col_stride;
	int32_t dtype;
	int32_t memory;         /* NG_HOST or NG_CUDA */
	int32_t device;         /* number of the CUDA device */
	uint32_t reserved;
} ng_ref;

/* Something that happened to the run between two frames. */
typedef struct ng_event {
	uint32_t struct_size;
	uint32_t reserved;
	const char *kind;       /* "reset", "graph_capture", "dr", "checkpoint_loaded", "note", ...; required */
	const char *name;       /* NULL: none */
	const int64_t *envs;    /* envs that it touched */
	int64_t n_envs;
	int64_t count;          /* how many envs it touched; 0: n_envs */
	const char *detail_json; /* NULL: none */
} ng_event;

#define NG_NAME_MAX 256
#define NG_PATH_MAX 4096
#define NG_TEXT_MAX 1024

/* What is known about the latest trip: the first value that was not finite. */
typedef struct ng_verdict {
	uint32_t struct_size;
	int32_t done;           /* 1: the dump is written, or will never be unless ng_dump is called */
	int64_t tick;           /* checks of the guard so far, this one included */
	int64_t count;          /* of the field's clock */
	int64_t env;            /* -1: the field has one row for the whole run */
	int64_t col;
	int32_t clock;
	int32_t value_class;    /* NG_NAN, ... */
	char field[NG_NAME_MAX];
	char path[NG_PATH_MAX]; /* of the dump once it is written, else "" */
	char error[NG_TEXT_MAX]; /* of writing it, else "" */
	int64_t number;         /* of the trip in the run, from 1: who finds it two higher has missed one */
} ng_verdict;

/* What one look at an array found. */
typedef struct ng_summary {
	uint32_t struct_size;
	int32_t first_class;    /* NG_NAN, ... of the first bad value in row-major order; 0: every value is finite */
	int64_t first_row;      /* where it is; -1: there is none */
	int64_t first_col;
	int64_t bad_rows;       /* rows with a bad value */
	int64_t nan;            /* how many values are NaN */
	int64_t posinf;
	int64_t neginf;
	int64_t absmax_row;     /* of the first value that is as large as absmax */
	double absmax;          /* of the finite values, as the next three; 0 when there is none */
	double min;
	double max;
	double mean;
} ng_summary;

/* Fills in the defaults that ng_config's members name. */
int ng_config_init(ng_config *config);

/* Makes a guard with nothing bound. */
int ng_guard_new(const ng_config *config, ng_guard *guard);

/* Adds a field. The ref gives dtype and shape; its address, which may be NULL,
 * is what ng_check reads when it is called without refs. The first field on a
 * GPU makes the guard one of that GPU. There, fields that come after the first
 * check have places and an eighth of the ring's memory kept for them, also once
 * graphs hold checks; when those are used up, the rings start anew or, with
 * checks in graphs, the field is refused (NG_ERR_GRAPH). ng_plan tells what is
 * left. */
int ng_bind(ng_guard guard, const ng_field *field, const ng_ref *ref, int32_t *id);

/* Advances the clock by one and captures the fields given at the addresses
 * given or, when n is 0, every field of that clock where it was bound.
 * NG_TRIPPED means that ng_poll has a verdict, of this check or of one before.
 *
 * Host memory is read before the call returns. What lies on a GPU is read in the
 * order of stream (a CUstream; NULL is the default stream), and the call does
 * not wait for it: the memory must live until then in the order of the stream,
 * and a trip is known to a later call. While the stream is being captured, the
 * check becomes part of the graph and happens whenever that runs, at the same
 * addresses; fields in host memory are left out of it. */
int ng_check(ng_guard guard, int32_t clock, const ng_ref *refs, uint32_t n, void *stream);

/* ng_check without advancing the clock: for what belongs to the step under way,
 * or for a second look. */
int ng_check_same(ng_guard guard, int32_t clock, const ng_ref *refs, uint32_t n, void *stream);

/* Fills in what is known about the latest trip and returns NG_TRIPPED, or
 * returns NG_OK when there was none. It never waits. */
int ng_poll(ng_guard guard, ng_verdict *verdict);

/* ng_poll after waiting for the dump under way, if there is one. */
int ng_wait(ng_guard guard, ng_verdict *verdict);

/* Writes what the guard holds now and waits for the file. reason may be NULL;
 * suspects are envs that the caller blames; a number that is no env is left out,
 * which a warning of the dump tells. NG_ERR_NO_DUMPS comes with the path of the
 * last dump; NG_ERR_WRITE with a path is a dump beside which something is
 * missing. */
int ng_dump(ng_guard guard, const char *reason, const int64_t *suspects, int64_t n_suspects, char *path, size_t size);

/* Records an event at the present tick. */
int ng_note(ng_guard guard, const ng_event *event);

/* Records what the run declared; value_json is a number, a string, true or
 * false. NaN, Infinity and -Infinity are numbers here. */
int ng_fact(ng_guard guard, const char *name, const char *value_json);

/* Says in one line how many frames of each field the ring keeps. */
int ng_plan(ng_guard guard, char *text, size_t size);

/* Writes the dump of a trip that has none yet, waits for a dump under way, and
 * releases the memory. A guard that is closed already is left alone. */
int ng_close(ng_guard guard);

/* Looks at one array in host memory, without a guard: NG_OK when every value is
 * finite, NG_TRIPPED when one is not. A summary of NULL asks for no more than
 * that, which is several times faster. The ref's field is not looked at. */
int ng_scan(const ng_ref *ref, ng_summary *summary);

/* The reason of this thread's latest failure, "" when there was none. */
int ng_last_error(char *text, size_t size);

/* The version of the library, such as "v0.2.0". */
int ng_version(char *text, size_t size);

/* NG_ABI as the library was built with it; it may be asked anywhere, at any time. */
uint32_t ng_abi(void);

/* sizeof the struct of that name as the library has it, 0 for an unknown one. */
size_t ng_sizeof(const char *struct_name);

/* Where a Python object's address comes from. */
typedef struct ng_source {
	const void *type;         /* that the object must have */
	const void *exchange_api; /* of that type; NULL: the ref is left as it is */
} ng_source;

/* For bindings of Python, called with the interpreter's lock held: fills in
 * address and strides of refs from the tensors (PyObject *) of frameworks that
 * have DLPack's C exchange (__dlpack_c_exchange_api__ of their type). type_at is
 * where an object names its type. Each ref has been filled in before; the
 * function stops at the first object of another type, or tensor of another
 * dtype, shape, memory or device, or whose columns do not lie at one stride, or
 * that the framework refuses (a Python exception is set then), and returns its
 * index, n when there was none. In a ref with rows 1 all dimensions are columns. */
uint32_t ng_refs_from_objects(const ng_source *sources, void *const *objects, uint32_t n, size_t type_at, ng_ref *refs);

/* A check that a binding of Python has made before. */
typedef struct ng_known {
	ng_guard guard;
	int32_t clock;
	int32_t advance;          /* 0: ng_check_same */
	uint32_t n;               /* fields, fewer than 64 */
	uint32_t busy;            /* the library's: it is being made */
	const void *clock_name;   /* str objects, which the binding keeps */
	const void *const *names; /* of the arrays, in order */
	const ng_source *sources;
	ng_ref *refs;             /* of no other check, each filled in as for ng_refs_from_objects */
} ng_known;

/* The checks of a guard that a binding of Python has made before. It changes them with the interpreter's lock held. */
typedef struct ng_known_checks {
	size_t type_at;
	uint32_t count;
	uint32_t reserved;
	ng_known *known;
} ng_known_checks;

/* For bindings of CPython with its lock: the PyMethodDef of a built-in function
 * whose self is an int, the address of ng_known_checks, and whose arguments are a
 * clock and dicts of arrays by name, or None. It makes the known check of this clock
 * and these names in this order, on the stream that is current in their framework,
 * with the lock let go, and returns its code; NG_UNLIKE when there is none, or an
 * array is not like the one that was there. NULL: the interpreter is another. */
const void *ng_python_method(int32_t advance);

#ifdef __cplusplus
}
#endif

#endif
