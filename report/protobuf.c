/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/protobuf.h"

#include <assert.h>
#include <string.h>

#include "report/clip.h"

#define VARINT_BYTES 10u
#define PACKED_MAX 32u
#define LARGEST ((uint64_t)INT64_MAX)

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static const char replacement[] = "\xEF\xBF\xBD";        /* U+FFFD */

/* Seven bits a byte, the lowest first; all but the last have the highest bit set. */
static size_t put_varint(unsigned char *to, uint64_t number)
{
	size_t count = 0;

	for (; number >= 0x80; number >>= 7)
		to[count++] = (unsigned char)(number | 0x80);
	to[count++] = (unsigned char)number;
	return count;
}

static size_t put_tag(unsigned char *to, uint32_t field, unsigned wire)
{
	return put_varint(to, (uint64_t)field << 3 | wire);
}

/* Tag and length of what follows. */
static size_t put_head(unsigned char *to, uint32_t field, uint64_t length)
{
	size_t count = put_tag(to, field, WIRE_BYTES);

	return count + put_varint(to + count, length);
}

static uint64_t limited(uint64_t number)
{
	return number < LARGEST ? number : LARGEST;
}

void slope_protobuf_number(struct slope_protobuf *m, uint32_t field, uint64_t number)
{
	assert(m->count + 2 * VARINT_BYTES <= sizeof(m->bytes));
	if (!number)
		return;
	m->count += put_tag(m->bytes + m->count, field, WIRE_VARINT);
	m->count += put_varint(m->bytes + m->count, limited(number));
}

static void put_bytes(struct slope_protobuf *m, uint32_t field, const unsigned char *bytes, size_t count)
{
	assert(m->count + 2 * VARINT_BYTES + count <= sizeof(m->bytes));
	m->count += put_head(m->bytes + m->count, field, count);
	memcpy(m->bytes + m->count, bytes, count);
	m->count += count;
}

void slope_protobuf_packed(struct slope_protobuf *m, uint32_t field, const uint64_t *number, size_t count)
{
	unsigned char bytes[PACKED_MAX * VARINT_BYTES];
	size_t used = 0;

	assert(count <= PACKED_MAX);
	for (size_t i = 0; i < count; i++)
		used += put_varint(bytes + used, limited(number[i]));
	put_bytes(m, field, bytes, used);
}

void slope_protobuf_nested(struct slope_protobuf *m, uint32_t field, const struct slope_protobuf *inner)
{
	put_bytes(m, field, inner->bytes, inner->count);
}

void slope_protobuf_write(struct slope_gzip *to, uint32_t field, const struct slope_protobuf *m)
{
	unsigned char head[2 * VARINT_BYTES];

	slope_gzip_put(to, head, put_head(head, field, m->count));
	slope_gzip_put(to, m->bytes, m->count);
}

void slope_protobuf_write_list(struct slope_gzip *to, uint32_t field, uint32_t list, const uint32_t *number, size_t count,
			       const struct slope_protobuf *m)
{
	unsigned char outer[2 * VARINT_BYTES], inner[2 * VARINT_BYTES], varint[VARINT_BYTES];
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += put_varint(varint, number[i]);
	size_t head = put_head(inner, list, bytes);

	slope_gzip_put(to, outer, put_head(outer, field, head + bytes + m->count));
	slope_gzip_put(to, inner, head);
	for (size_t i = 0; i < count; i++)
		slope_gzip_put(to, varint, put_varint(varint, number[i]));
	slope_gzip_put(to, m->bytes, m->count);
}

static bool is_foreign(const char *text, unsigned *bytes)
{
	return slope_utf8_next(text, bytes) == 0xFFFD && *bytes == 1;
}

static size_t length_of(const char *text)
{
	size_t count = 0;
	unsigned bytes;

	for (; *text; text += bytes)
		count += is_foreign(text, &bytes) ? strlen(replacement) : bytes;
	return count;
}

/* In runs of what can stay as it is. */
static void put_text(struct slope_gzip *to, const char *text)
{
	const char *start = text;
	unsigned bytes;

	for (; *text; text += bytes) {
		if (!is_foreign(text, &bytes))
			continue;
		slope_gzip_put(to, start, (size_t)(text - start));
		slope_gzip_put(to, replacement, strlen(replacement));
		start = text + bytes;
	}
	slope_gzip_put(to, start, (size_t)(text - start));
}

void slope_protobuf_write_text(struct slope_gzip *to, uint32_t field, const char *text, const char *more)
{
	unsigned char head[2 * VARINT_BYTES];

	text = text ? text : "";
	more = more ? more : "";
	slope_gzip_put(to, head, put_head(head, field, length_of(text) + length_of(more)));
	put_text(to, text);
	put_text(to, more);
}
