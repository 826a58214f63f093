/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON, written as it comes. Commas, indentation and escapes are done here; the
 * caller says what opens, what closes and what is in it. In an object every
 * value has a key, in an array the key is NULL.
 */
#ifndef SLOPE_REPORT_JSON_H
#define SLOPE_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SLOPE_JSON_DEPTH 16u

struct slope_json {
	FILE *out;
	unsigned depth;
	bool filled[SLOPE_JSON_DEPTH];  /* something is in the object or array already */
	bool tight[SLOPE_JSON_DEPTH];   /* on one line */
	char closing[SLOPE_JSON_DEPTH];
};

void slope_json_init(struct slope_json *j, FILE *out);

/* `tight` keeps an object or array, with all in it, on one line. */
void slope_json_object(struct slope_json *j, const char *key, bool tight);
void slope_json_array(struct slope_json *j, const char *key, bool tight);

/* Closes what was opened last; the outermost one ends the line. */
void slope_json_end(struct slope_json *j);

/* Bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void slope_json_string(struct slope_json *j, const char *key, const char *text);
void slope_json_uint(struct slope_json *j, const char *key, uint64_t number);
void slope_json_int(struct slope_json *j, const char *key, int64_t number);
void slope_json_uint128(struct slope_json *j, const char *key, uint64_t high, uint64_t low);
/* Six significant digits; null for what JSON cannot say (NaN, infinity). */
void slope_json_real(struct slope_json *j, const char *key, double number);
/* The same with all digits that it takes to read the number back. */
void slope_json_double(struct slope_json *j, const char *key, double number);
void slope_json_bool(struct slope_json *j, const char *key, bool value);
void slope_json_null(struct slope_json *j, const char *key);

/* 128 bits in decimal: `text` holds 40 bytes. Also for CSV. */
const char *slope_decimal128(uint64_t high, uint64_t low, char *text);

#endif
