/*
 * The seam between guard.c, which refuses what must not reach Go, and the
 * exported Go functions. Both sides include this file, so gcc refuses a
 * prototype that does not match its function.
 */
#ifndef NANGUARD_EXPORTS_H
#define NANGUARD_EXPORTS_H

#include "nanguard.h"

/* A buffer for text; Go cuts what does not fit and sets need to the bytes that
 * would have held it all, NUL included. */
typedef struct {
	char *data;
	size_t size;
	size_t need;
} text_buffer;

/* cgo has no const: pointers to it go by another name. */
typedef const char *in_text;
typedef const int64_t *in_envs;
typedef const ng_config *in_config;
typedef const ng_field *in_field;
typedef const ng_ref *in_refs;
typedef const ng_event *in_event;

/* Each fills in error when it returns a negative code. */
int goGuardNew(in_config config, ng_guard *guard, text_buffer *error);
int goBind(ng_guard guard, in_field field, in_refs ref, int32_t *id, text_buffer *error);
int goCheck(ng_guard guard, int32_t clock, int32_t advance, in_refs refs, uint32_t n, void *stream, text_buffer *error);
int goPoll(ng_guard guard, int32_t wait, ng_verdict *verdict, text_buffer *error);
int goDump(ng_guard guard, in_text reason, in_envs suspects, int64_t n, text_buffer *path, text_buffer *error);
int goNote(ng_guard guard, in_event event, text_buffer *error);
int goFact(ng_guard guard, in_text name, in_text value, text_buffer *error);
int goPlan(ng_guard guard, text_buffer *text, text_buffer *error);
int goScan(in_refs ref, ng_summary *summary, text_buffer *error);
int goClose(ng_guard guard, text_buffer *error);
int goConfigInit(ng_config *config, text_buffer *error);
int goVersion(text_buffer *text, text_buffer *error);

#endif
