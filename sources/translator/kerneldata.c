/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sources/translator/kerneldata.h"

#include "sources/translator/observing.h"

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>

enum when { IN, OUT, INTERRUPTED };
enum how { TEXT, BYTES, ARGUMENT, RESULT, VECTOR, MESSAGE, MESSAGES, POINTED, BITS, PAGES, AND_TYPE, RESULT_AND_TYPE, ALL_OF };

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

static void touch_message(enum when when, uint64_t address, uint64_t result)
{
	const struct message *m = (const struct message *)address;

	if (!space_allows(&runtime.space, address, sizeof *m, PROT_READ))
		return;
	touch_vector(when, m->vector, m->count, when == IN ? UINT64_MAX : result);
	touch(when, m->name, m->name_bytes);
	touch(when, m->control, m->control_bytes);
}

/* The kernel's struct mmsghdr: how many bytes there were, in OUT what came. */
static void touch_messages(enum when when, uint64_t address, uint64_t count)
{
	struct counted_message {
		struct message message;
		uint32_t bytes, unused;
	} *m = (struct counted_message *)address;

	for (uint64_t i = 0; i < count && space_allows(&runtime.space, (uint64_t)&m[i], sizeof *m, PROT_READ); i++) {
		touch_message(when, (uint64_t)&m[i].message, m[i].bytes);
		if (when == OUT)
			touch(OUT, (uint64_t)&m[i].bytes, sizeof m[i].bytes);
	}
}

/* How many bytes lie there, where that is simply so; the others are lists. */
static uint64_t row_bytes(const struct row *row, const uint64_t *args, long result)
{
	uint64_t address = args[row->argument];

	switch ((enum how)row->how) {
	case TEXT:
		return text_bytes(address);
	case BYTES:
		return row->size;
	case ARGUMENT:
		return args[row->size];
	case RESULT:
		return (uint64_t)result * row->size;
	case POINTED:
		return space_allows(&runtime.space, args[row->size], 4, PROT_READ) ? *(const uint32_t *)args[row->size] : 0;
	case BITS:
		return ((args[row->size] & 0xffffffff) + 63) / 64 * 8;
	case PAGES:
		return slope_page_round(args[row->size]) / SLOPE_PAGE_BYTES;
	case AND_TYPE:
		return 8 + args[row->size];
	case RESULT_AND_TYPE:
		return 8 + (uint64_t)result;
	case ALL_OF:
		return args[row->size >> 16] * (row->size & 0xffff);
	default:
		return 0;
	}
}

static void apply(const struct row *row, const uint64_t *args, long result)
{
	enum when when = row->when == IN ? IN : OUT;
	uint64_t address = args[row->argument];

	if (!address)
		return;
	switch ((enum how)row->how) {
	case VECTOR:
		touch_vector(when, address, args[row->size], when == OUT ? (uint64_t)result : UINT64_MAX);
		break;
	case MESSAGE:
		touch_message(when, address, (uint64_t)result);
		break;
	case MESSAGES:
		touch_messages(when, address, when == OUT ? (uint64_t)result : args[row->size]);
		break;
	default:
		touch(when, address, row_bytes(row, args, result));
		break;
	}
}

#define CALLS 512u
#define ROWS (sizeof rows / sizeof *rows)

/* The rows of a call, one behind the other. */
static const struct chains {
	uint16_t first[CALLS];       /* 1 more than the row's number; 0: none */
	uint16_t next[ROWS];
} *chains(void)
{
	static struct chains made;
	static bool ready;

	/* The first call of all comes before the first clone. */
	if (ready)
		return &made;
	for (size_t i = ROWS; i-- > 0; made.first[rows[i].number] = (uint16_t)(i + 1))
		made.next[i] = made.first[rows[i].number];
	ready = true;
	return &made;
}

static bool apply_all(enum when when, long number, const uint64_t *args, long result)
{
	const struct chains *c = chains();
	bool known = false;

	if (number < 0 || number >= (long)CALLS)
		return false;
	for (unsigned i = c->first[number]; i; i = c->next[i - 1]) {
		known = true;
		if (rows[i - 1].when == when)
			apply(&rows[i - 1], args, result);
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

/* ---- calls whose memory depends on a command ---- */

/* What is at an argument of a command: as many bytes, read or written. */
struct command {
	uint16_t call;
	uint8_t by, argument;        /* which argument is the command, which one the memory */
	uint32_t command;
	uint16_t in, out;
};

#define IPC_SET 1
#define IPC_STAT 2

static const struct command commands[] = {
	{ __NR_ioctl, 1, 2, 0x5401 /* TCGETS */, 0, 36 },
	{ __NR_ioctl, 1, 2, 0x5402 /* TCSETS */, 36, 0 },
	{ __NR_ioctl, 1, 2, 0x5403 /* TCSETSW */, 36, 0 },
	{ __NR_ioctl, 1, 2, 0x5404 /* TCSETSF */, 36, 0 },
	{ __NR_ioctl, 1, 2, 0x5413 /* TIOCGWINSZ */, 0, 8 },
	{ __NR_ioctl, 1, 2, 0x5414 /* TIOCSWINSZ */, 8, 0 },
	{ __NR_ioctl, 1, 2, 0x540f /* TIOCGPGRP */, 0, 4 },
	{ __NR_ioctl, 1, 2, 0x5410 /* TIOCSPGRP */, 4, 0 },
	{ __NR_ioctl, 1, 2, 0x541b /* FIONREAD */, 0, 4 },
	{ __NR_ioctl, 1, 2, 0x5421 /* FIONBIO */, 4, 0 },
	{ __NR_fcntl, 1, 2, F_GETLK, 32, 32 },
	{ __NR_fcntl, 1, 2, F_SETLK, 32, 0 },
	{ __NR_fcntl, 1, 2, F_SETLKW, 32, 0 },
	{ __NR_fcntl, 1, 2, F_OFD_GETLK, 32, 32 },
	{ __NR_fcntl, 1, 2, F_OFD_SETLK, 32, 0 },
	{ __NR_fcntl, 1, 2, F_OFD_SETLKW, 32, 0 },
	{ __NR_fcntl, 1, 2, F_GETOWN_EX, 0, 8 },
	{ __NR_fcntl, 1, 2, F_SETOWN_EX, 8, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT_PRIVATE, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT_BITSET, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT_BITSET_PRIVATE, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_CMP_REQUEUE, 4, 0 },
	{ __NR_futex, 1, 0, FUTEX_CMP_REQUEUE_PRIVATE, 4, 0 },
	{ __NR_prctl, 0, 1, PR_SET_NAME, 16, 0 },
	{ __NR_prctl, 0, 1, PR_GET_NAME, 0, 16 },
	{ __NR_prctl, 0, 1, PR_GET_PDEATHSIG, 0, 4 },
	{ __NR_prctl, 0, 1, PR_GET_CHILD_SUBREAPER, 0, 4 },
	{ __NR_prctl, 0, 1, PR_GET_TSC, 0, 4 },
	{ __NR_semctl, 2, 3, IPC_STAT, 0, 104 },
	{ __NR_semctl, 2, 3, IPC_SET, 104, 0 },
	{ __NR_msgctl, 1, 2, IPC_STAT, 0, 120 },
	{ __NR_msgctl, 1, 2, IPC_SET, 120, 0 },
	{ __NR_shmctl, 1, 2, IPC_STAT, 0, 112 },
	{ __NR_shmctl, 1, 2, IPC_SET, 112, 0 },
};

/* Other ioctls say in their number how much they read or write. */
static void numbered_ioctl(enum when when, const uint64_t *args)
{
	uint64_t request = args[1] & 0xffffffff, bytes = request >> 16 & 0x3fff;

	if (request >> (when == IN ? 30 : 31) & 1)
		touch(when, args[2], bytes);
}

static void apply_commands(enum when when, long number, const uint64_t *args)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const struct command *c = &commands[i];

		if (c->call == number && c->command == (uint32_t)args[c->by]) {
			touch(when, args[c->argument], when == IN ? c->in : c->out);
			return;
		}
	}
	if (number == __NR_ioctl)
		numbered_ioctl(when, args);
}

void kerneldata_before(long number, const uint64_t *args)
{
	apply_commands(IN, number, args);
	if (!apply_all(IN, number, args, 0))
		say_unknown(number);
}

void kerneldata_after(long number, const uint64_t *args, long result)
{
	if (result == -EINTR)
		apply_all(INTERRUPTED, number, args, 0);
	if (system_failed(result))
		return;
	apply_commands(OUT, number, args);
	apply_all(OUT, number, args, result);
}
