/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's counters. Each thread has its own for each event that is measured;
 * after a period of events it stops, and our signal comes to the thread. The
 * handler lets it go on when it is done, so what the sampler itself does is not
 * counted, and there is at most one signal of each on its way.
 *
 * The kernel counts a page fault when it begins. A signal that comes then makes
 * it give up some kinds of faults and return to the program, which faults
 * again, and so on for ever. So faults are counted as the minor and major ones
 * that they turn out to be, when they are over: by two counters.
 *
 * The program may close our files, and open its own under their numbers. An
 * event has an identity, by which we know whether a file is still ours.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sources/sampler/sampler.h"

#define FILES_FROM 500           /* numbers that programs seldom come to */

/* A higher number for the file, if there is one. */
static int move_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FILES_FROM);

	if (high < 0)
		return fd;
	syscall(SYS_close, fd);
	return high;
}

static bool send_signals(int fd, pid_t tid)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };
	int flags = fcntl(fd, F_GETFL);

	return fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SLOPE_SIGNAL) == 0 &&
	       fcntl(fd, F_SETFL, flags | O_ASYNC) == 0;
}

static bool open_event(struct slope_overflow *o, const struct slope_meter *m, uint64_t config, pid_t tid)
{
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = m->type, .config = config, .sample_period = m->period, .disabled = 1,
		.exclude_kernel = m->own, .exclude_hv = 1, .wakeup_events = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	fd = move_up(fd);
	if (!send_signals(fd, tid) || ioctl(fd, PERF_EVENT_IOC_ID, &o->identity) != 0 ||
	    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) != 0 || ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) != 0) {
		syscall(SYS_close, fd);
		return false;
	}
	o->fd = fd;
	return true;
}

static bool open_column(struct slope_sampled *t, uint32_t column)
{
	const struct slope_meter *m = &slope_sampler.meters.meter[column];
	bool faults = m->type == PERF_TYPE_SOFTWARE && m->config == PERF_COUNT_SW_PAGE_FAULTS;

	if (!open_event(&t->overflow[2 * column], m, faults ? PERF_COUNT_SW_PAGE_FAULTS_MIN : m->config, t->tid))
		return false;
	return !faults || open_event(&t->overflow[2 * column + 1], m, PERF_COUNT_SW_PAGE_FAULTS_MAJ, t->tid);
}

bool slope_overflows_open(struct slope_sampled *t)
{
	bool good = true;

	for (uint32_t i = 0; i < slope_sampler.meters.count; i++)
		if (slope_sampler.meters.meter[i].kind == SLOPE_METER_PERF)
			good &= open_column(t, i);
	return good;
}

void slope_overflows_end(struct slope_sampled *t)
{
	for (uint32_t i = 0; i < SLOPE_OVERFLOWS_MAX; i++) {
		uint64_t identity = 0;
		int fd = t->overflow[i].fd;

		t->overflow[i].fd = 0;
		if (fd && ioctl(fd, PERF_EVENT_IOC_ID, &identity) == 0 && identity == t->overflow[i].identity)
			syscall(SYS_close, fd);
	}
}

bool slope_overflows_wake(const struct slope_meters *meters)
{
	for (uint32_t i = 0; i < meters->count; i++) {
		const struct slope_meter *m = &meters->meter[i];

		if (m->kind == SLOPE_METER_PERF && m->type == PERF_TYPE_SOFTWARE &&
		    (m->config == PERF_COUNT_SW_CONTEXT_SWITCHES || m->config == PERF_COUNT_SW_CPU_MIGRATIONS))
			return true;
	}
	return false;
}

bool slope_overflows_sent(const siginfo_t *info)
{
	return slope_sampler.meters.column[SLOPE_METER_PERF] >= 0 && info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

int slope_overflows_sender(const struct slope_sampled *t, const siginfo_t *info)
{
	for (uint32_t i = 0; t && i < SLOPE_OVERFLOWS_MAX; i++)
		if (t->overflow[i].fd && t->overflow[i].fd == info->si_fd)
			return (int)i;
	return -1;
}

void slope_overflows_go_on(const struct slope_sampled *t, int number)
{
	ioctl(t->overflow[number].fd, PERF_EVENT_IOC_REFRESH, 1);
}

void slope_overflows_pause(const struct slope_sampled *t)
{
	for (uint32_t i = 0; t && i < SLOPE_OVERFLOWS_MAX; i++)
		if (t->overflow[i].fd)
			ioctl(t->overflow[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void slope_overflows_resume(const struct slope_sampled *t)
{
	for (uint32_t i = 0; t && i < SLOPE_OVERFLOWS_MAX; i++)
		if (t->overflow[i].fd)
			ioctl(t->overflow[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}
