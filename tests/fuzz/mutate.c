/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drives a libFuzzer entry without libFuzzer: mutate SECONDS FILE... changes
 * the files in a way that follows from a counted seed, and runs the entry on
 * each result. A crash is the failure. The seed is on stderr every second;
 * mutate -s SEED FILE... goes on from there for two seconds and says each one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base.h"

#define INPUT_MAX 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

struct input {
	uint8_t bytes[INPUT_MAX];
	size_t count;
};

static uint64_t next(uint64_t *seed)
{
	return slope_mix64(*seed += UINT64_C(0x9e3779b97f4a7c15));
}

static void cut(struct input *in, uint64_t *seed)
{
	in->count = next(seed) % (in->count + 1);
}

static void flip(struct input *in, uint64_t *seed)
{
	if (in->count)
		in->bytes[next(seed) % in->count] ^= (uint8_t)(1u << next(seed) % 8);
}

/* Numbers that are often at the edge of something. */
static void set(struct input *in, uint64_t *seed)
{
	static const uint8_t edge[] = { 0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0xff };

	if (in->count)
		in->bytes[next(seed) % in->count] = edge[next(seed) % sizeof edge];
}

static void repeat(struct input *in, uint64_t *seed)
{
	size_t from = in->count ? next(seed) % in->count : 0, bytes = next(seed) % 64;
	size_t to = in->count ? next(seed) % in->count : 0;

	if (bytes > in->count - from)
		bytes = in->count - from;
	if (in->count + bytes > INPUT_MAX)
		return;
	uint8_t piece[64];

	memcpy(piece, in->bytes + from, bytes);
	memmove(in->bytes + to + bytes, in->bytes + to, in->count - to);
	memcpy(in->bytes + to, piece, bytes);
	in->count += bytes;
}

static void drop(struct input *in, uint64_t *seed)
{
	size_t from = in->count ? next(seed) % in->count : 0, bytes = next(seed) % 16;

	if (bytes > in->count - from)
		bytes = in->count - from;
	memmove(in->bytes + from, in->bytes + from + bytes, in->count - from - bytes);
	in->count -= bytes;
}

static void mutate(struct input *in, uint64_t seed)
{
	void (*const change[])(struct input *, uint64_t *) = { flip, set, flip, set, repeat, drop, cut };
	unsigned changes = 1 + next(&seed) % 8;

	while (changes--)
		change[next(&seed) % (sizeof change / sizeof *change)](in, &seed);
}

static bool read_input(struct input *in, const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return false;
	}
	in->count = fread(in->bytes, 1, INPUT_MAX, f);
	fclose(f);
	return true;
}

static void run(const struct input *file, uint64_t seed)
{
	static struct input in;

	in.count = file->count;
	memcpy(in.bytes, file->bytes, file->count);
	mutate(&in, seed);
	LLVMFuzzerTestOneInput(in.bytes, in.count);
}

int main(int argc, char **argv)
{
	bool say_all = argc > 3 && !strcmp(argv[1], "-s");
	int first = say_all ? 3 : 2, files = argc - first;
	long seconds = say_all ? 2 : argc > 1 ? atol(argv[1]) : 0;
	uint64_t seed = say_all ? strtoull(argv[2], NULL, 10) : 0, inputs = 0;
	static struct input file[16];
	time_t start = time(NULL), said = start, now = start;

	if (files < 1 || files > 16) {
		fprintf(stderr, "usage: mutate SECONDS FILE... | mutate -s SEED FILE...\n");
		return 2;
	}
	for (int i = 0; i < files; i++)
		if (!read_input(&file[i], argv[first + i]))
			return 2;
	for (; now - start < seconds; now = time(NULL), seed++, inputs++) {
		if (now != said || say_all)
			fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
		said = now;
		run(&file[seed % (uint64_t)files], seed);
	}
	printf("%llu inputs, no crash\n", (unsigned long long)inputs);
	return inputs == 0;
}
