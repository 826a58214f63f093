/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/kerneldata.h"

#include "sources/translator/observing.h"

#include <linux/mman.h>

enum when { IN, OUT };
enum how { TEXT, BYTES, ARGUMENT, RESULT, VECTOR, MESSAGE, POINTED, ALL_OF };

struct row {
	uint16_t number;
	uint8_t when, argument, how;
	uint32_t size;
};

static const struct row rows[] = {
#define X(call, when, argument, how, size) { __NR_##call, when, argument, how, size },
	KERNELDATA_LIST(X)
#undef X
};

static const uint16_t quiet[] = {
#define X(call) __NR_##call,
	KERNELDATA_NOTHING(X)
#undef X
};

struct io_vector {
	uint64_t base, bytes;
};

/* The kernel's struct msghdr. */
struct message {
	uint64_t name;
	uint32_t name_bytes, unused;
	uint64_t vector, count, control, control_bytes, flags;
};

static void touch(enum when when, uint64_t address, uint64_t bytes)
{
	if (!bytes || !space_allows(&runtime.space, address, bytes, PROT_READ))
		return;
	if (when == IN)
		slope_thread_read(context_here()->fiber->core, address, bytes);
	else
		slope_session_kernel_write(&observer.session, address, bytes);
}

/* With its zero byte, if it has one: it may run into memory that is not there. */
static uint64_t text_bytes(uint64_t address)
{
	const char *at = (const char *)address;

	do {
		if (((uint64_t)at == address || (uint64_t)at % SLOPE_PAGE_BYTES == 0) &&
		    !space_allows(&runtime.space, (uint64_t)at, 1, PROT_READ))
			break;
	} while (*at++);
	return (uint64_t)at - address;
}

static void touch_vector(enum when when, uint64_t address, uint64_t count, uint64_t left)
{
	const struct io_vector *v = (const struct io_vector *)address;

	if (!space_allows(&runtime.space, address, count * sizeof *v, PROT_READ))
		return;
	for (uint64_t i = 0; i < count && left; i++) {
		uint64_t bytes = v[i].bytes < left ? v[i].bytes : left;

		touch(when, v[i].base, bytes);
		left -= bytes;
	}
}

static void apply(const struct row *row, const uint64_t *args, long result)
{
	uint64_t address = args[row->argument], pointed = row->how == POINTED ? args[row->size] : 0;

	switch ((enum how)row->how) {
	case TEXT:
		touch(row->when, address, text_bytes(address));
		break;
	case BYTES:
		touch(row->when, address, row->size);
		break;
	case ARGUMENT:
		touch(row->when, address, args[row->size]);
		break;
	case RESULT:
		touch(row->when, address, (uint64_t)result * row->size);
		break;
	case VECTOR:
		touch_vector(row->when, address, args[row->size], row->when == OUT ? (uint64_t)result : UINT64_MAX);
		break;
	case MESSAGE:
		if (space_allows(&runtime.space, address, sizeof(struct message), PROT_READ)) {
			const struct message *m = (const struct message *)address;

			touch_vector(row->when, m->vector, m->count, row->when == OUT ? (uint64_t)result : UINT64_MAX);
			touch(row->when, m->name, m->name_bytes);
			touch(row->when, m->control, m->control_bytes);
		}
		break;
	case POINTED:
		if (space_allows(&runtime.space, pointed, 4, PROT_READ))
			touch(row->when, address, *(const uint32_t *)pointed);
		break;
	case ALL_OF:
		touch(row->when, address, args[row->size >> 16] * (row->size & 0xffff));
		break;
	}
}

static bool apply_all(enum when when, long number, const uint64_t *args, long result)
{
	bool known = false;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].number != number)
			continue;
		known = true;
		if (rows[i].when == when)
			apply(&rows[i], args, result);
	}
	return known;
}

static void say_unknown(long number)
{
	static uint8_t said[512];
	struct system_digits digits;

	if (number < 0 || number >= (long)sizeof said || said[number]++)
		return;
	for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
		if (quiet[i] == number)
			return;
	system_say("what system call ", system_number(&digits, (uint64_t)number, 10),
		   " reads and writes is not known yet and not in the profile", NULL);
}

void kerneldata_before(long number, const uint64_t *args)
{
	if (!apply_all(IN, number, args, 0))
		say_unknown(number);
}

/* What the terminal and others tell by ioctl: the size is in the number, or one of these. */
static void after_ioctl(const uint64_t *args)
{
	uint64_t request = args[1], bytes = request >> 16 & 0x3fff;

	switch (request) {
	case 0x5401:                     /* TCGETS */
		bytes = 36;
		break;
	case 0x5413:                     /* TIOCGWINSZ */
		bytes = 8;
		break;
	case 0x540f:                     /* TIOCGPGRP */
	case 0x541b:                     /* FIONREAD */
		bytes = 4;
		break;
	default:
		if (!(request >> 31 & 1))        /* not one that the kernel answers */
			return;
	}
	touch(OUT, args[2], bytes);
}

void kerneldata_after(long number, const uint64_t *args, long result)
{
	if (system_failed(result))
		return;
	if (number == __NR_ioctl)
		after_ioctl(args);
	apply_all(OUT, number, args, result);
}
