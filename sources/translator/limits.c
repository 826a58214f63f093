/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits that a program sets to its own memory. The kernel would count the
 * shadow and the code cache too and refuse everything from then on; so it is
 * not told of them, and they are kept to here, by what the program itself has mapped. A limit from
 * before the start is the kernel's, and shows in make_context.
 *
 * A program that is run in this one's place gets them as an option; one that
 * runs without us gets the soft ones from the kernel.
 */
#include "sources/translator/runtime.h"

#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/resource.h>

#define LIMITS 2u
#define OPTION "--limits="

static const unsigned resource[LIMITS] = { RLIMIT_AS, RLIMIT_DATA };

static struct {
	bool set[LIMITS];
	struct rlimit64 limit[LIMITS], kernels[LIMITS];
	char option[128];            /* the same as an option */
} limits;

static struct rlimit64 limit_now(unsigned which)
{
	struct rlimit64 now = { RLIM64_INFINITY, RLIM64_INFINITY };

	if (limits.set[which])
		return limits.limit[which];
	system_call(__NR_prlimit64, 0, resource[which], 0, (long)&now, 0, 0);
	return now;
}

/* Who may raise what was lowered once? */
static bool may_raise(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !system_call(__NR_capget, (long)&header, (long)data, 0, 0, 0, 0) && data[0].effective >> CAP_SYS_RESOURCE & 1;
}

/* ---- the program's calls ---- */

/* Which of ours a call is about; LIMITS: none. */
static unsigned limit_of(long number, const uint64_t *args)
{
	unsigned wanted = (unsigned)args[number == __NR_prlimit64];
	bool own = number != __NR_prlimit64 || !args[0] || (long)args[0] == system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
	unsigned which = 0;

	if (!own || (number != __NR_prlimit64 && number != __NR_setrlimit && number != __NR_getrlimit))
		return LIMITS;
	while (which < LIMITS && resource[which] != wanted)
		which++;
	return which;
}

bool limits_are_meant(long number, const uint64_t *args)
{
	return limit_of(number, args) < LIMITS;
}

long limits_call(long number, const uint64_t *args)
{
	unsigned which = limit_of(number, args);
	uint64_t from = number == __NR_prlimit64 ? args[2] : number == __NR_setrlimit ? args[1] : 0;
	uint64_t to = number == __NR_prlimit64 ? args[3] : number == __NR_getrlimit ? args[1] : 0;
	struct rlimit64 now = limit_now(which), new;

	if ((from || number == __NR_setrlimit) && !space_allows(&runtime.space, from, sizeof new, PROT_READ))
		return -EFAULT;
	if ((to || number == __NR_getrlimit) && !space_allows(&runtime.space, to, sizeof now, PROT_READ | PROT_WRITE))
		return -EFAULT;
	if (from) {
		slope_copy(&new, (const void *)from, sizeof new);
		if (new.rlim_cur > new.rlim_max)
			return -EINVAL;
		if (new.rlim_max > now.rlim_max && !may_raise())
			return -EPERM;
		limits.limit[which] = new;
		limits.set[which] = true;
	}
	if (to)
		slope_copy((void *)to, &now, sizeof now);
	return 0;
}

/* ---- keeping to them ---- */

/*
 * How much of [start, end) there is of what the limit counts: all memory, or what is private and can be written, but for the stack.
 * That one is there as far as it may grow, and counts as one of the usual size.
 */
static uint64_t counted(unsigned which, uint64_t start, uint64_t end)
{
	const struct space *s = &runtime.space;
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct space_region *r = &s->region[i];
		uint64_t low = r->start > start ? r->start : start, high = r->end < end ? r->end : end;

		if (r->start >= s->far_end && low < s->window - PLAN_STACK_DEFAULT_BYTES)
			low = s->window - PLAN_STACK_DEFAULT_BYTES;

		if (low < high && (resource[which] == RLIMIT_AS || (!r->shared && r->prot & PROT_WRITE && r->start < s->far_end)))
			bytes += high - low;
	}
	return bytes;
}

bool limits_allow(uint64_t start, uint64_t bytes, bool data)
{
	for (unsigned which = 0; which < LIMITS; which++) {
		if (!limits.set[which] || (resource[which] == RLIMIT_DATA && !data))
			continue;
		uint64_t before = counted(which, 0, UINT64_MAX) - (start ? counted(which, start, start + bytes) : 0);

		if (bytes > limits.limit[which].rlim_cur || before > limits.limit[which].rlim_cur - bytes)
			return false;
	}
	return true;
}

/* ---- to other programs ---- */

static size_t append_number(size_t length, uint64_t value)
{
	struct system_digits digits;

	length = system_append(limits.option, length, sizeof limits.option, ":");
	return system_append(limits.option, length, sizeof limits.option, system_number(&digits, value, 16));
}

const char *limits_as_option(void)
{
	size_t length = system_append(limits.option, 0, sizeof limits.option, OPTION);

	for (unsigned which = 0; which < LIMITS; which++) {
		length = append_number(length, limits.set[which]);
		length = append_number(length, limits.limit[which].rlim_cur);
		length = append_number(length, limits.limit[which].rlim_max);
	}
	return limits.set[0] || limits.set[1] ? limits.option : NULL;
}

/* A number behind a colon, in hexadecimal digits. */
static uint64_t take_number(const char **at)
{
	uint64_t value = 0;

	if (**at == ':')
		++*at;
	for (; **at && **at != ':'; ++*at)
		value = value << 4 | (uint64_t)(**at <= '9' ? **at - '0' : (**at | 0x20) - 'a' + 10);
	return value;
}

bool limits_option(const char *option)
{
	const char *at = system_after(option, OPTION);

	for (unsigned which = 0; at && which < LIMITS; which++) {
		limits.set[which] = take_number(&at) != 0;
		limits.limit[which].rlim_cur = take_number(&at);
		limits.limit[which].rlim_max = take_number(&at);
	}
	return at;
}

void limits_tell_kernel(void)
{
	for (unsigned which = 0; which < LIMITS; which++) {
		if (!limits.set[which])
			continue;
		struct rlimit64 soft = { limits.limit[which].rlim_cur, 0 };

		system_call(__NR_prlimit64, 0, resource[which], 0, (long)&limits.kernels[which], 0, 0);
		soft.rlim_max = limits.kernels[which].rlim_max;
		system_call(__NR_prlimit64, 0, resource[which], (long)&soft, 0, 0, 0);
	}
}

void limits_take_back(void)
{
	for (unsigned which = 0; which < LIMITS; which++)
		if (limits.set[which])
			system_call(__NR_prlimit64, 0, resource[which], (long)&limits.kernels[which], 0, 0, 0);
}
