/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/perfring.h"

#include <asm/perf_regs.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/messages.h"

#define NS_PER_S UINT64_C(1000000000)
#define RECORD_MAX 65536u
#define THREADS_MAX 4096u
#define TRIES 10u

/* Rings and pieces of stack, the largest first: users may lock only so much memory. */
static const struct { size_t pages; uint32_t stack; } sizes[] = { { 2048, 32768 }, { 512, 16384 }, { 64, 8192 }, { 16, 4096 } };

/* The kernel's registers in the order of DWARF. */
static const unsigned order[SLOPE_REMOTE_REGISTERS] = {
	PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX, PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_BP,
	PERF_REG_X86_SP, PERF_REG_X86_R8, PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12,
	PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP,
};

static uint64_t register_mask(void)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < SLOPE_REMOTE_REGISTERS; i++)
		mask |= UINT64_C(1) << order[i];
	return mask;
}

static int open_event(const struct slope_perfring *r, pid_t tid, int processor, uint64_t rate)
{
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = NS_PER_S / rate, .exclude_kernel = !r->kernel, .exclude_hv = 1, .inherit = 1, .inherit_thread = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = register_mask(), .sample_stack_user = r->stack_bytes - 8, .mmap = 1, .disabled = 0,
		.wakeup_events = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The threads there are, from malloc; those that come later are seen by the counters of who makes them. */
static pid_t *list_threads(pid_t pid, size_t *count)
{
	pid_t *list = calloc(THREADS_MAX, sizeof *list);
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	DIR *dir = opendir(path);

	for (*count = 0; list && dir && *count < THREADS_MAX && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			list[(*count)++] = (pid_t)atol(entry->d_name);
	if (dir)
		closedir(dir);
	return list;
}

static void close_all(struct slope_perfring *r)
{
	for (size_t i = 0; r->ring && i < r->processors; i++)
		if (r->ring[i])
			munmap(r->ring[i], r->ring_bytes);
	for (size_t i = 0; r->fd && i < r->fds; i++)
		close(r->fd[i]);
	r->fds = 0;
	for (size_t i = 0; r->ring && i < r->processors; i++)
		r->ring[i] = NULL;
}

/* Counters of all threads on one processor, into one ring. False with errno. */
static bool open_processor(struct slope_perfring *r, const pid_t *thread, size_t processor, uint64_t rate)
{
	int first = -1;

	for (size_t i = 0; i < r->threads; i++) {
		int fd = open_event(r, thread[i], (int)processor, rate);

		if (fd < 0 && errno == ESRCH)
			continue;                /* it has ended meanwhile */
		if (fd < 0)
			return false;
		r->fd[r->fds++] = fd;
		if (first < 0) {
			void *ring = mmap(NULL, r->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

			if (ring == MAP_FAILED)
				return false;
			r->ring[processor] = ring;
			first = fd;
		} else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) != 0) {
			return false;
		}
	}
	return true;
}

static bool open_all(struct slope_perfring *r, const pid_t *thread, uint64_t rate, size_t size)
{
	bool good = true;

	r->stack_bytes = sizes[size].stack;
	r->ring_bytes = (sizes[size].pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < r->processors && good; i++)
		good = open_processor(r, thread, i, rate);
	if (good && !r->fds) {
		errno = ESRCH;
		good = false;
	}
	if (!good) {
		int error = errno;

		close_all(r);
		errno = error;
	}
	return good;
}

/* With what the kernel does for it if that is permitted; with rings as large as is permitted. */
static bool try_all(struct slope_perfring *r, const pid_t *thread, uint64_t rate)
{
	size_t size = 0;

	r->kernel = true;
	for (;;) {
		if (open_all(r, thread, rate, size))
			return true;
		if (r->kernel && (errno == EACCES || errno == EPERM) && size == 0)
			r->kernel = false;
		else if ((errno == EPERM || errno == ENOMEM) && size + 1 < sizeof sizes / sizeof *sizes)
			size++;
		else
			return false;
	}
}

static void say_why(pid_t pid, int error)
{
	if (error == ESRCH)
		slope_say("--attach=%ld: there is no such process", (long)pid);
	else if (error == EACCES || error == EPERM)
		slope_say("--attach=%ld: the kernel does not permit it; it takes a process of your own and "
			  "kernel.perf_event_paranoid of 2 or less, or root", (long)pid);
	else
		slope_say("--attach=%ld: the kernel has no samples for us (perf_event_open: %s)", (long)pid, strerror(error));
}

/* Has a thread come that is not in the list? It may be that no counter knows of it. */
static bool has_others(pid_t pid, const pid_t *thread, size_t count)
{
	size_t now_count, i = 0;
	pid_t *now = list_threads(pid, &now_count);
	bool others = false;

	for (size_t n = 0; now && n < now_count && !others; n++) {
		for (i = 0; i < count && thread[i] != now[n]; i++)
			;
		others = i == count;
	}
	free(now);
	return others;
}

/* One go at all threads that there are now; `*again`: others have come meanwhile. False with errno. */
static bool try_once(struct slope_perfring *r, uint64_t rate, bool *again)
{
	pid_t *thread = list_threads(r->pid, &r->threads);
	bool good = false;

	r->fd = calloc(r->processors * (r->threads + 1), sizeof *r->fd);
	errno = ENOMEM;
	if (thread && r->fd) {
		errno = ESRCH;
		good = r->threads && try_all(r, thread, rate);
	}
	*again = good && has_others(r->pid, thread, r->threads);
	free(thread);
	return good;
}

bool slope_perfring_open(struct slope_perfring *r, pid_t pid, uint64_t rate)
{
	bool good = false, again = true;

	*r = (struct slope_perfring){ .pid = pid, .processors = (size_t)sysconf(_SC_NPROCESSORS_CONF) };
	r->ring = calloc(r->processors, sizeof *r->ring);
	r->record = malloc(RECORD_MAX);
	errno = ENOMEM;
	for (unsigned i = 0; r->ring && r->record && again && i < TRIES; i++) {
		close_all(r);
		free(r->fd);
		r->fd = NULL;
		good = try_once(r, rate, &again);
	}
	if (!good) {
		say_why(pid, errno);
		slope_perfring_close(r);
	}
	return good;
}

void slope_perfring_close(struct slope_perfring *r)
{
	close_all(r);
	free(r->fd);
	free(r->ring);
	free(r->record);
	*r = (struct slope_perfring){ 0 };
}

bool slope_perfring_wait(struct slope_perfring *r, int timeout_ms)
{
	struct pollfd *poll_fd = calloc(r->fds + 1, sizeof *poll_fd);
	size_t gone = 0;

	if (!poll_fd)
		return false;
	for (size_t i = 0; i < r->fds; i++)
		poll_fd[i] = (struct pollfd){ .fd = r->fd[i], .events = POLLIN };
	poll(poll_fd, r->fds, timeout_ms);
	for (size_t i = 0; i < r->fds; i++)
		gone += (poll_fd[i].revents & POLLHUP) != 0;
	free(poll_fd);
	return gone < r->fds;
}

/* A record's bytes; a short read gives zeros. */
struct bytes {
	const unsigned char *at, *end;
};

static uint64_t get(struct bytes *b)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < sizeof value)
		return 0;
	memcpy(&value, b->at, sizeof value);
	b->at += sizeof value;
	return value;
}

static bool read_sample(const struct slope_perfring *r, struct bytes b, struct slope_remote_sample *s)
{
	uint64_t ids = get(&b), value[64] = { 0 }, mask = register_mask();

	*s = (struct slope_remote_sample){ .tid = (pid_t)(ids >> 32), .weight_ns = get(&b) };
	if ((pid_t)(uint32_t)ids != r->pid)
		return false;
	s->in_user = get(&b) == PERF_SAMPLE_REGS_ABI_64;
	if (!s->in_user)
		return true;
	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			value[i] = get(&b);
	for (unsigned i = 0; i < SLOPE_REMOTE_REGISTERS; i++)
		s->reg[i] = value[order[i]];
	uint64_t bytes = get(&b);

	s->stack = b.at;
	if (bytes > (uint64_t)(b.end - b.at))
		bytes = 0;
	b.at += bytes;
	uint64_t filled = bytes ? get(&b) : 0;

	s->stack_bytes = (size_t)(filled < bytes ? filled : bytes);
	return true;
}

static void read_ring(struct slope_perfring *r, void *ring, void (*take)(void *ctx, const struct slope_remote_sample *sample),
		      void *ctx)
{
	struct perf_event_mmap_page *page = ring;
	const unsigned char *data = (const unsigned char *)ring + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail, room = page->data_size;

	while (tail < head) {
		struct perf_event_header header;
		struct slope_remote_sample sample;
		const unsigned char *at = data + tail % room;

		memcpy(&header, at, sizeof header);      /* records are aligned: a header never crosses the end */
		if (header.size < sizeof header)
			break;
		if (tail % room + header.size > room) {
			size_t first = (size_t)(room - tail % room);

			memcpy(r->record, at, first);
			memcpy(r->record + first, data, header.size - first);
			at = r->record;
		}
		struct bytes b = { at + sizeof header, at + header.size };

		if (header.type == PERF_RECORD_SAMPLE && read_sample(r, b, &sample)) {
			take(ctx, &sample);
		} else if (header.type == PERF_RECORD_LOST) {
			get(&b);
			r->lost += get(&b);
		} else if (header.type == PERF_RECORD_MMAP) {
			r->mapped = true;
		}
		tail += header.size;
		__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	}
}

void slope_perfring_read(struct slope_perfring *r, void (*take)(void *ctx, const struct slope_remote_sample *sample), void *ctx)
{
	for (size_t i = 0; i < r->processors; i++)
		if (r->ring[i])
			read_ring(r, r->ring[i], take, ctx);
}
