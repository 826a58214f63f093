/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/crc32c.h"

#define POLYNOMIAL 0x82f63b78u   /* of Castagnoli, lowest bit first */

void slope_crc32c_init(struct slope_crc32c *crc)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? POLYNOMIAL : 0);
		crc->table[0][i] = c;
	}
	for (int k = 1; k < 4; k++)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = crc->table[k - 1][i];

			crc->table[k][i] = c >> 8 ^ crc->table[0][c & 255];
		}
}

uint32_t slope_crc32c(const struct slope_crc32c *crc, uint32_t before, const void *bytes, size_t count)
{
	const unsigned char *b = bytes;
	uint32_t c = ~before;

	for (; count >= 4; b += 4, count -= 4) {
		c ^= (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
		c = crc->table[3][c & 255] ^ crc->table[2][c >> 8 & 255] ^
		    crc->table[1][c >> 16 & 255] ^ crc->table[0][c >> 24];
	}
	for (; count; b++, count--)
		c = c >> 8 ^ crc->table[0][(c ^ *b) & 255];
	return ~c;
}
