/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Protocol buffers, as far as an export needs them: small messages are put
 * together in memory of a fixed size, and written into a gzip stream as fields
 * of the one large message that the file is. A number that is 0 is left out:
 * that is how the format says 0.
 */
#ifndef SLOPE_REPORT_PROTOBUF_H
#define SLOPE_REPORT_PROTOBUF_H

#include <stdint.h>

#include "report/gzip.h"

#define SLOPE_PROTOBUF_BYTES 512u        /* more than any message here takes; exceeding it is a bug of ours */

struct slope_protobuf {
	unsigned char bytes[SLOPE_PROTOBUF_BYTES];
	size_t count;
};

static inline void slope_protobuf_init(struct slope_protobuf *m)
{
	m->count = 0;
}

/* A number of at most 63 bits: signed fields hold no more, and a larger one becomes the largest. */
void slope_protobuf_number(struct slope_protobuf *m, uint32_t field, uint64_t number);

/* Several numbers in one field, zeroes too. At most 32 of them. */
void slope_protobuf_packed(struct slope_protobuf *m, uint32_t field, const uint64_t *number, size_t count);

/* A message inside another. */
void slope_protobuf_nested(struct slope_protobuf *m, uint32_t field, const struct slope_protobuf *inner);

/* A message as a field of the file. */
void slope_protobuf_write(struct slope_gzip *to, uint32_t field, const struct slope_protobuf *m);

/*
 * The same with several numbers in one field before all others, as many as
 * there are.
 */
void slope_protobuf_write_list(struct slope_gzip *to, uint32_t field, uint32_t list, const uint32_t *number, size_t count,
			       const struct slope_protobuf *m);

/* A text as a field of the file, two parts as one. Bytes that are no UTF-8 become U+FFFD. NULL is empty. */
void slope_protobuf_write_text(struct slope_gzip *to, uint32_t field, const char *text, const char *more);

#endif
