/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes may be given to the loader. This is libFuzzer's entry (clang
 * -fsanitize=fuzzer,address,undefined); mutate.c drives it where there is no
 * libFuzzer.
 *
 * Random bytes hardly ever have a right checksum, so every input is loaded
 * twice: as it is, and with the checksums of its chunks put right. What loads
 * is also saved and merged: both must cope with everything a load lets through.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/crc32c.h"
#include "format/sections.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static void put32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get32(const unsigned char *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Walks the chunks by their sizes as long as these fit. */
static void put_checksums_right(unsigned char *b, size_t count)
{
	struct slope_crc32c crc;
	size_t at = SLOPE_HEADER_BYTES;

	slope_crc32c_init(&crc);
	if (count < SLOPE_HEADER_BYTES)
		return;
	put32(b + 20, slope_crc32c(&crc, 0, b, 20));
	while (count - at >= SLOPE_CHUNK_HEADER_BYTES) {
		size_t bytes = get32(b + at + 4);

		if (bytes > count - at - SLOPE_CHUNK_HEADER_BYTES)
			return;
		uint32_t sum = slope_crc32c(&crc, 0, b + at, 8);

		put32(b + at + 8, slope_crc32c(&crc, sum, b + at + SLOPE_CHUNK_HEADER_BYTES, bytes));
		at += SLOPE_CHUNK_HEADER_BYTES + bytes;
	}
}

/* Loaded, merged with itself, saved into nothing. */
static void use(const unsigned char *b, size_t count)
{
	char error[256] = "";
	struct slope_profile *p = slope_profile_decode(b, count, error, sizeof error);
	struct slope_profile *two[] = { p, p };

	if (!p && !*error)
		abort();         /* silence is a bug */
	if (!p)
		return;
	if (!slope_profile_save(p, "/dev/null", error, sizeof error))
		abort();
	slope_profile_free(slope_profile_merge(two, 2, error, sizeof error));
	slope_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	unsigned char *copy = malloc(count ? count : 1);

	if (count)
		memcpy(copy, data, count);
	use(copy, count);
	put_checksums_right(copy, count);
	use(copy, count);
	free(copy);
	return 0;
}
