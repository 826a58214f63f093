/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What counters are there, why others are not, and what went wrong with those that were used: in words. */
#include "sources/translator/counters.h"

#include <asm/errno.h>
#include <linux/fcntl.h>

#include "sources/translator/system.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define UNIT "/sys/bus/event_source/devices/cpu"
#define LINE_BYTES 512u
#define INSTEAD "; what works without: time, task-clock, page-faults, context-switches"

static bool there(const char *path)
{
	return !system_call(__NR_access, (long)path, 0, 0, 0, 0, 0);
}

/* Processors with cores of two kinds have two. */
static bool have_unit(void)
{
	return there(UNIT) || there(UNIT "_core");
}

/* -1 to 4; false where the kernel does not say. */
static bool paranoid(char text[8])
{
	long fd = system_open(PARANOID, O_RDONLY | O_CLOEXEC, 0), got;

	if (system_failed(fd))
		return false;
	got = system_call(__NR_read, fd, (long)text, 7, 0, 0, 0);
	system_close(fd);
	for (text[got > 0 ? got : 0] = 0; got > 0 && text[got - 1] == '\n'; got--)
		text[got - 1] = 0;
	return text[0] && text[0] != '\n';
}

static size_t append(char *to, size_t at, size_t room, const char *const *word)
{
	for (; *word; word++)
		at = system_append(to, at, room, *word);
	return at;
}

/* What a setting forbids, and which one would not. */
static size_t explain_refusal(const struct event *e, long error, char *to, size_t at, size_t room)
{
	char setting[8];
	const char *needed = e->in_kernel ? "1" : "2";
	bool known = paranoid(setting);

	/* A number below the one needed, or a sign before it, is no obstacle. */
	if (known && setting[0] > needed[0])
		return append(to, at, room, (const char *[]){ "kernel.perf_event_paranoid is ", setting, " and allows it to nobody without "
				"CAP_PERFMON; 'sysctl kernel.perf_event_paranoid=", needed, "' would", NULL });
	return append(to, at, room, (const char *[]){ "perf_event_open is forbidden here", error == EPERM ?
			", as containers do it with a filter of system calls (seccomp)" : "", NULL });
}

static const char *other_reason(const struct event *e, long error)
{
	bool hardware = e->kind != EVENT_SOFTWARE;

	switch (error) {
	case ENOSYS:
		return "this kernel has no performance events";
	case EMFILE:
	case ENFILE:
		return "too many files are open (ulimit -n)";
	case EBUSY:
		return "somebody else has the counters to himself";
	case EINVAL:
		return e->kind == EVENT_RAW ? "the processor does not take this number" : "the processor does not count it";
	default:
		if (hardware && !have_unit())
			return "this machine offers no hardware counters, as most virtual machines";
		return hardware ? "this processor does not count it" : "this kernel does not count it";
	}
}

size_t counters_explain(const struct event *e, long error, char *to, size_t at, size_t room)
{
	at = append(to, at, room, (const char *[]){ "'", e->name, "' cannot be counted: ", NULL });
	if (error == EACCES || error == EPERM)
		at = explain_refusal(e, error, to, at, room);
	else
		at = system_append(to, at, room, other_reason(e, error));
	return system_append(to, at, room, INSTEAD);
}

/* ---- the list ---- */

static size_t append_how(const struct event *e, char *line, size_t n)
{
	long fd = e->way == EVENT_BY_PERF ? counters_perf(e, -1) : -1;

	if (e->way != EVENT_BY_PERF)
		return system_append(line, n, LINE_BYTES, "free");
	if (!system_failed(fd)) {
		const struct perf_event_mmap_page *page = counters_page(fd);

		counters_unmap(page);
		system_close(fd);
		return system_append(line, n, LINE_BYTES, page ? "rdpmc" : "read");
	}
	n = system_append(line, n, LINE_BYTES, "no: ");
	if (fd == -EACCES || fd == -EPERM)
		return explain_refusal(e, -fd, line, n, LINE_BYTES);
	return system_append(line, n, LINE_BYTES, other_reason(e, -fd));
}

static void list_one(const struct event *e)
{
	char line[LINE_BYTES];
	struct system_digits type, config;
	size_t n = append(line, 0, LINE_BYTES - 1, (const char *[]){ e->name, "\t", eventnames_kind(e->kind), "\t",
			  system_number(&type, e->type, 10), "\t", system_number(&config, e->config, 10), "\t", NULL });

	n = append_how(e, line, n);
	line[n < LINE_BYTES - 1 ? n++ : n] = '\n';
	system_call(__NR_write, 1, (long)line, (long)n, 0, 0, 0);
}

bool counters_list(const char *list)
{
	struct event e;

	if (*list && !counters_choose(list))
		return false;
	for (unsigned i = 0; *list && i < counters.count; i++)
		list_one(&counters.event[i]);
	for (unsigned i = 0; !*list && eventnames_nth(i, &e); i++)
		list_one(&e);
	return true;
}

bool counters_option(const char *option)
{
	const char *events = system_after(option, "--events="), *list = system_after(option, "--list-events");

	if (events && !counters_choose(events))
		system_stop(counters.reason, NULL);
	if (events || !list || (*list && *list != '='))
		return events;
	if (!counters_list(*list ? list + 1 : list))
		system_stop(counters.reason, NULL);
	for (;;)
		system_call(__NR_exit_group, 0, 0, 0, 0, 0, 0);
}

/* ---- what went wrong ---- */

static bool say_shared(unsigned n, char *text, size_t room)
{
	const struct counters_statistics *s = &counters.total;
	struct system_digits share;

	if (s->running_ns[n] >= s->enabled_ns[n])
		return false;
	uint64_t percent = s->enabled_ns[n] >= 100 ? s->running_ns[n] / (s->enabled_ns[n] / 100) : 0;

	append(text, 0, room, (const char *[]){ "the counter of ", counters.event[n].name, " was shared with others and ran for ",
		system_number(&share, percent, 10), " % of the time; its values are scaled up", NULL });
	return true;
}

static bool say_count(const char *words, uint64_t count, char *text, size_t room)
{
	struct system_digits digits;

	if (count)
		append(text, 0, room, (const char *[]){ words, ": ", system_number(&digits, count, 10), NULL });
	return count;
}

static bool say(unsigned which, char *text, size_t room)
{
	const struct counters_statistics *s = &counters.total;

	if (which < counters.count)
		return say_shared(which, text, room);
	switch (which - counters.count) {
	case 0:
		return say_count("threads without counters, which could not be opened for them", s->unopened, text, room);
	case 1:
		return say_count("readings of counters that said nothing and are left out", s->failed, text, room);
	case 2:
		return say_count("counters that the program had closed, and that were opened anew", s->reopened, text, room);
	case 3:
		return say_count("samples of time in which another thread had the processor, and that are left out", s->interrupted, text,
				 room);
	default:
		return false;
	}
}

bool counters_problem(unsigned n, char *text, size_t room)
{
	for (unsigned which = 0; which < counters.count + 4; which++)
		if (say(which, text, room) && n-- == 0)
			return true;
	return false;
}
