/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "report/block.h"

#include <stdlib.h>

#include "profile/page.h"
#include "profile/text7.h"
#include "report/gzip.h"

#define PIECE_BYTES 8192u

struct block {
	FILE *out, *packed;          /* packed: what gzip writes to, which writes to `out` */
	struct slope_gzip gzip;
	struct slope_text7 text;
};

static ssize_t write_packed(void *to, const char *bytes, size_t count)
{
	struct block *b = to;
	char text[SLOPE_TEXT7_ROOM(PIECE_BYTES)];

	for (size_t done = 0; done < count;) {
		size_t part = count - done < PIECE_BYTES ? count - done : PIECE_BYTES;

		fwrite(text, 1, slope_text7_put(&b->text, bytes + done, part, text), b->out);
		done += part;
	}
	return (ssize_t)count;
}

static ssize_t write_plain(void *to, const char *bytes, size_t count)
{
	struct block *b = to;

	slope_gzip_put(&b->gzip, bytes, count);
	return (ssize_t)count;
}

static int end_block(void *to)
{
	struct block *b = to;
	FILE *out = b->out;
	char text[8];

	slope_gzip_fini(&b->gzip);
	fclose(b->packed);
	fwrite(text, 1, slope_text7_end(&b->text, text), out);
	fputs(SLOPE_PAGE_END "\n", out);
	free(b);
	return ferror(out) ? -1 : 0;
}

FILE *slope_block_open(FILE *out, const char *id)
{
	struct block *b = calloc(1, sizeof(*b));
	FILE *plain = NULL;

	if (!b)
		return NULL;
	b->out = out;
	b->packed = fopencookie(b, "w", (cookie_io_functions_t){ .write = write_packed });
	if (b->packed && slope_gzip_init(&b->gzip, b->packed)) {
		plain = fopencookie(b, "w", (cookie_io_functions_t){ .write = write_plain, .close = end_block });
		if (!plain)
			slope_gzip_fini(&b->gzip);
	}
	if (plain) {
		fprintf(out, "<script type=\"text/slope7\" id=\"%s\">", id);
		return plain;
	}
	if (b->packed)
		fclose(b->packed);
	free(b);
	return NULL;
}
