/* Arrays of Python, found and checked with one call: exchange.c, for again.c. */
#ifndef NANGUARD_EXCHANGE_H
#define NANGUARD_EXCHANGE_H

#include "nanguard.h"

/* Makes a known check with these objects; NG_UNLIKE when one is not like that which
 * was in its place, and an exception may be set then. It lets the interpreter's lock
 * go meanwhile. */
__attribute__((visibility("hidden"))) int check_objects(const ng_known *check, size_t type_at, void *const *objects);

#endif
