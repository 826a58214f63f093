/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Start and stop while the program runs (format/channel.h). What is asked for
 * comes with our own signal, so that it is seen to in a handler: no thread of
 * ours, and no cost as long as nobody asks. Timers are set by whoever gets the
 * signal, those of all threads: a stopped program has none that goes off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "format/channel.h"
#include "sources/sampler/reals.h"

#define PROBES 64u                       /* slots that are looked at for a free one */
#define SNAPSHOT_STACK_BYTES (256u << 10) /* the program's own signal stack may be small */

static struct slope_channel *channel;
static struct slope_channel_slot *slot;  /* this process's; NULL: it cannot be talked to */
static int busy;

bool slope_controlling_paused(void)
{
	return __atomic_load_n(&slope_sampler.paused, __ATOMIC_SEQ_CST);
}

/* The file is another's, or not what it should be: nobody can talk to this process. */
static struct slope_channel *open_channel(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	struct slope_channel *c = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof *c && !(st.st_mode & 077))
		c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (c == MAP_FAILED)
		return NULL;
	if (!memcmp(c->magic, SLOPE_CHANNEL_MAGIC, sizeof c->magic) && c->version == SLOPE_CHANNEL_VERSION)
		return c;
	munmap(c, sizeof *c);
	return NULL;
}

/* A slot that nobody has, or whose process is gone. */
static bool take(struct slope_channel_slot *s, uint32_t pid)
{
	uint32_t owner = __atomic_load_n(&s->pid, __ATOMIC_ACQUIRE);

	if (owner && owner != pid && (kill((pid_t)owner, 0) == 0 || errno != ESRCH))
		return false;
	return __atomic_compare_exchange_n(&s->pid, &owner, pid, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void claim(void)
{
	uint32_t pid = (uint32_t)slope_sampler.pid;
	struct timespec now = { 0 };
	int error = errno;

	slot = NULL;
	for (unsigned i = 0; channel && !slot && i < PROBES; i++) {
		struct slope_channel_slot *s = &channel->slot[(pid + i) % SLOPE_CHANNEL_SLOTS];

		if (take(s, pid))
			slot = s;
	}
	if (slot) {
		syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
		slot->signal = (uint32_t)SLOPE_SIGNAL;
		slot->done = 0;
		slot->samples = 0;
		prctl(PR_GET_NAME, slot->name);
		__atomic_store_n(&slot->claimed_ns, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, __ATOMIC_SEQ_CST);
	}
	errno = error;
}

/* As the head says. All threads' timers follow. */
static void settle(void)
{
	bool stopped = __atomic_load_n(&channel->stopped, __ATOMIC_SEQ_CST);

	if (stopped == slope_controlling_paused())
		return;
	__atomic_store_n(&slope_sampler.paused, stopped, __ATOMIC_SEQ_CST);
	for (struct slope_sampled *t = __atomic_load_n(&slope_sampler.newest, __ATOMIC_ACQUIRE); t; t = t->next)
		slope_clocks_arm(t, !stopped);
}

void slope_controlling_begin(const char *path)
{
	channel = path && path[0] == '/' ? open_channel(path) : NULL;
	claim();
	if (channel)
		slope_sampler.paused = __atomic_load_n(&channel->stopped, __ATOMIC_SEQ_CST);
}

void slope_controlling_alone(void)
{
	busy = 0;
	claim();
	if (channel)
		slope_sampler.paused = __atomic_load_n(&channel->stopped, __ATOMIC_SEQ_CST);
}

void slope_controlling_resume(void)
{
	claim();
	if (channel)
		settle();
}

void slope_controlling_end(void)
{
	uint32_t pid = (uint32_t)slope_sampler.pid;

	if (slot)
		__atomic_compare_exchange_n(&slot->pid, &pid, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	slot = NULL;
}

static void write_wanted(void)
{
	bool good = true;

	if (channel->action == SLOPE_CHANNEL_WRITE)
		good = slope_samplefile_write("running", -1, 0);
	else if (channel->action == SLOPE_CHANNEL_SNAPSHOT)
		good = slope_samplefile_snapshot(channel->snapshot);
	slot->failed = !good;
}

/* Calls `write_wanted` on a stack of its own. */
static void write_aside(void)
{
	const struct slope_host *host = &slope_sampler.host;
	char *stack = host->pages(host->ctx, SNAPSHOT_STACK_BYTES);

	if (!stack) {
		slot->failed = true;
		return;
	}
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %0, %%rsp\n\t"
			 "call *%1\n\t"
			 "movq %%rbx, %%rsp"
			 : : "r"(stack + SNAPSHOT_STACK_BYTES), "r"(write_wanted)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	host->release(host->ctx, stack, SNAPSHOT_STACK_BYTES);
}

static void serve(void)
{
	uint32_t request = __atomic_load_n(&channel->request, __ATOMIC_SEQ_CST), threads = 0;
	uint64_t samples = 0;

	settle();
	slot->failed = 0;
	if (channel->action != SLOPE_CHANNEL_SETTLE)
		write_aside();
	for (const struct slope_sampled *t = __atomic_load_n(&slope_sampler.newest, __ATOMIC_ACQUIRE); t; t = t->next) {
		samples += t->samples;
		threads += t->armed;
	}
	slot->samples = samples;
	slot->threads = threads;
	slot->stopped = slope_controlling_paused();
	__atomic_store_n(&slot->done, request, __ATOMIC_SEQ_CST);
}

static bool has_more(void)
{
	return __atomic_load_n(&channel->request, __ATOMIC_SEQ_CST) != __atomic_load_n(&slot->done, __ATOMIC_SEQ_CST);
}

bool slope_controlling_request(const siginfo_t *info)
{
	int cancellable;

	if (info->si_code != SI_QUEUE || info->si_value.sival_int != SLOPE_CHANNEL_VALUE)
		return false;
	if (!slot || syscall(SYS_getpid) != slope_sampler.pid)
		return true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
	do {
		if (__atomic_exchange_n(&busy, 1, __ATOMIC_SEQ_CST))
			break;           /* another thread is at it, and will see this one, too */
		if (has_more())
			serve();
		__atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
	} while (slot && has_more());
	pthread_setcancelstate(cancellable, NULL);
	return true;
}
