/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile of a process. It is written in whatever state the process is,
 * a signal handler included: with system calls and pages of our own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/encode.h"
#include "sources/sampler/liveblocks.h"
#include "sources/sampler/reals.h"

#define WAIT_TURNS 2000u        /* for handlers in other threads; each takes microseconds */
#define WRITE_TURNS 5000u        /* of a millisecond */
#define PATH_BYTES (PATH_MAX + 64u)
#define HIGH_DESCRIPTOR 1000     /* or above: out of the way of the program's own */

struct file {
	struct slope_encoder encoder;
	char path[PATH_BYTES], part[PATH_BYTES];
	struct slope_session session;
	struct slope_arena arena;
	struct slope_folded *folded;
	struct slope_sums *sums;
	size_t threads;
	int fd;
};

/* No sample is being taken, nor will be; what trampolines count is a word each. */
static void stop(void)
{
	__atomic_store_n(&slope_sampler.stopped, true, __ATOMIC_SEQ_CST);
	for (unsigned turn = 0; turn < WAIT_TURNS && __atomic_load_n(&slope_sampler.at_work, __ATOMIC_SEQ_CST); turn++)
		sched_yield();
}

/* `out` with the process in place of each %p, or behind it. */
static void make_path(const char *out, char *path, size_t room)
{
	const struct slope_sampler *s = &slope_sampler;
	size_t used = 0;
	bool said = false;

	for (const char *c = out; *c && used + 32 < room; c++) {
		if (c[0] == '%' && c[1] == 'p') {
			used += (size_t)snprintf(path + used, room - used, "%ld", (long)s->pid);
			said = true;
			c++;
		} else {
			path[used++] = *c;
		}
	}
	path[used] = '\0';
	if (!said && s->pid != s->main_pid)
		used += (size_t)snprintf(path + used, room - used, ".%ld", (long)s->pid);
}

/* The name of the image that an exec replaces. */
static void make_image_path(char *path, size_t room)
{
	make_path(slope_sampler.out, path, room);
	size_t used = strlen(path);

	snprintf(path + used, room - used, ".exec%u", slope_sampler.images);
}

static bool write_all(void *ctx, const void *bytes, size_t count)
{
	const struct file *file = ctx;
	const char *at = bytes;

	while (count) {
		ssize_t done = write(file->fd, at, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		count -= (size_t)done;
	}
	return true;
}

/* A thread that has ended without a sample is not. */
static bool is_shown(const struct slope_sampled *t)
{
	return t->armed || t->samples;
}

static bool fold_all(struct file *f)
{
	size_t count = 0, i = 0;

	for (const struct slope_sampled *t = slope_sampler.newest; t; t = t->next)
		count += is_shown(t);
	f->folded = slope_arena_alloc(&f->arena, (count + 1) * sizeof *f->folded);
	f->sums = slope_arena_alloc(&f->arena, (count + 1) * sizeof *f->sums);
	if (!f->folded || !f->sums)
		return false;
	for (struct slope_sampled *t = slope_sampler.newest; t && i < count; t = t->next)
		if (is_shown(t) && !slope_folding(&f->folded[i++], t, &f->session, &f->arena))
			return false;
	count = i;
	for (f->threads = 0; f->threads < count; f->threads++)
		if (!slope_folding_sums(&f->sums[f->threads], &f->folded[f->threads], &f->session, &f->arena))
			return false;
	return true;
}

static void put_facts(struct file *f, const char *ended, int exit_code, int signal)
{
	const struct slope_sampler *s = &slope_sampler;
	struct slope_facts facts = {
		.source = "sampler", .directory = s->directory, .created_by = SLOPE_VERSION, .ended = ended,
		.exit_code = exit_code, .exit_signal = signal, .process = (uint64_t)s->pid, .parent_process = (uint64_t)getppid(),
		.runs = 1, .units = slope_meters_units(&s->meters),
		.argument = (const char *const *)s->argv, .argument_count = (size_t)s->argc,
	};

	for (uint32_t i = 0; i < s->meters.count; i++)
		facts.unit_name[i] = s->meters.meter[i].name;
	facts.unit_name[slope_meters_samples(&s->meters)] = "samples";
	slope_encode_facts(&f->encoder, &facts);
}

static void put_losses(struct file *f)
{
	static const char *const name[] = {
#define X(id, word, sentence) word,
		SLOPE_SAMPLER_LOST_LIST(X)
#undef X
	};
	static const char *const text[] = {
#define X(id, word, sentence) sentence,
		SLOPE_SAMPLER_LOST_LIST(X)
#undef X
	};

	for (unsigned i = 0; i < SLOPE_SAMPLER_LOST_COUNT; i++) {
		struct slope_lost_entry entry = { .name = slope_text_of(name[i]), .text = slope_text_of(text[i]) };

		for (const struct slope_sampled *t = slope_sampler.newest; t; t = t->next)
			entry.count += t->lost[i];
		slope_encode_lost(&f->encoder, &entry);
	}
	slope_encode_lost(&f->encoder, &(struct slope_lost_entry){
		.name = slope_text_of("threads"),
		.text = slope_text_of("threads that could not be followed, for want of memory, timers or counters"),
		.count = slope_sampler.session.lost[SLOPE_LOST_THREADS] });
	slope_encode_lost(&f->encoder, &(struct slope_lost_entry){
		.name = slope_text_of("allocators"),
		.text = slope_text_of("processes whose program has a malloc of its own: none of its allocations is seen"),
		.count = slope_sampler.unseen && (slope_sampler.meters.column[SLOPE_METER_ALLOCATED] >= 0 ||
						   slope_sampler.meters.column[SLOPE_METER_LIVE] >= 0) });
}

static void put_code(struct file *f)
{
	const struct slope_session *s = &f->session;

	for (size_t i = 0; i < s->module_count; i++) {
		const struct slope_module *m = &s->module[i];
		struct slope_module_entry entry = { .number = (uint32_t)i, .path = slope_text_of(m->path),
						    .build_id_bytes = m->build_id_bytes, .start = m->start, .bytes = m->bytes };

		slope_copy(entry.build_id, m->build_id, sizeof entry.build_id);
		slope_encode_module(&f->encoder, &entry);
	}
	for (size_t i = 0; i < s->function_count; i++)
		slope_encode_function(&f->encoder, &(struct slope_function_entry){
			.number = (uint32_t)i, .module = s->function[i].module, .flags = s->function[i].flags,
			.offset = s->function[i].offset, .raw_name = slope_text_of(s->function[i].name) });
}

/* A thread that goes on may have been given its name after its start. */
static void find_name(struct slope_sampled *t)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)t->tid);
	int fd = t->name[0] ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t bytes = read(fd, t->name, sizeof t->name);

	close(fd);
	if (bytes > 0)
		t->name[bytes - 1] = '\0';
}

static void put_threads(struct file *f)
{
	for (size_t i = 0; i < f->threads; i++) {
		struct slope_sampled *t = f->folded[i].thread;
		uint64_t calls = 0;

		find_name(t);
		for (uint32_t n = 0; n < f->folded[i].nodes; n++)
			calls += f->folded[i].node[n]->calls;
		slope_encode_thread(&f->encoder, &(struct slope_thread_entry){
			.number = t->id, .id = t->id, .parent = t->parent, .os_id = (uint64_t)t->tid,
			.process = (uint64_t)slope_sampler.pid, .calls = calls, .max_depth = t->max_depth,
			.name = { t->name, strnlen(t->name, sizeof t->name) } });
	}
}

static void put_records(struct file *f, size_t i)
{
	for (size_t fn = 0; fn < f->session.function_count; fn++) {
		const struct slope_sum *sum = &f->sums[i].function[fn];
		struct slope_cost_entry entry = { .function = (uint32_t)fn, .thread = f->folded[i].thread->id, .calls = sum->calls };

		if (!sum->calls && !sum->total[slope_meters_samples(&slope_sampler.meters)])
			continue;
		for (unsigned u = 0; u < f->sums[i].units; u++) {
			entry.total[u] = sum->total[u];
			entry.self[u] = sum->self[u];
		}
		slope_encode_cost(&f->encoder, &entry);
	}
}

static void put_edges(struct file *f, size_t i)
{
	const struct slope_sums *sums = &f->sums[i];

	for (size_t k = 0; k < sums->edge.capacity; k++) {
		const struct slope_map_entry *e = &sums->edge.entry[k];
		struct slope_edge_entry entry = { .thread = f->folded[i].thread->id, .caller = (uint32_t)(e->key >> 32),
						  .callee = (uint32_t)e->key };

		if (!e->used)
			continue;
		entry.calls = sums->call[e->value].calls;
		for (unsigned u = 0; u < sums->units; u++)
			entry.cost[u] = sums->call[e->value].total[u];
		slope_encode_edge(&f->encoder, &entry);
	}
}

static void put_contexts(struct file *f, size_t i)
{
	const struct slope_folded *folded = &f->folded[i];

	for (uint32_t n = 0; n < folded->nodes; n++) {
		const struct slope_context *node = folded->node[n];
		struct slope_context_entry entry = {
			.thread = folded->thread->id, .number = n, .parent = node->above ? node->above->number : SLOPE_NUMBER_NONE,
			.function = node->fn, .site = node->site, .calls = node->calls,
		};

		for (unsigned u = 0; u < folded->tree->units; u++) {
			entry.self[u] = node->cost[u];
			entry.total[u] = node->cost[folded->tree->units + u];
		}
		slope_encode_context(&f->encoder, &entry);
	}
}

/* Where in their functions samples were taken: what was inlined there is found by that. */
static void put_places(struct file *f, const struct slope_folded *folded)
{
	const struct slope_contexts *tree = folded->thread->tree;

	for (const struct slope_context_block *b = tree->first; b; b = b->next) {
		for (size_t i = 0; i < b->count; i++) {
			const struct slope_context *node = slope_context_at(tree, b, i);
			struct slope_place_entry entry = { .thread = folded->thread->id };
			uint64_t any = 0;

			for (unsigned u = 0; u < slope_meters_units(&slope_sampler.meters); u++)
				any |= entry.self[u] = node->cost[u];
			if (!any || !slope_folding_place(folded, node, &entry.module, &entry.offset))
				continue;
			entry.context = folded->node_of[node->number]->number;
			slope_encode_place(&f->encoder, &entry);
		}
	}
}

static bool put_all(struct file *f, const char *ended, int exit_code, int signal)
{
	f->encoder.writer = (struct slope_writer){ write_all, f };
	slope_encode_begin(&f->encoder, slope_meters_units(&slope_sampler.meters));
	put_facts(f, ended, exit_code, signal);
	put_losses(f);
	put_code(f);
	put_threads(f);
	for (size_t i = 0; i < f->threads; i++)
		put_records(f, i);
	for (size_t i = 0; i < f->threads; i++)
		put_edges(f, i);
	for (size_t i = 0; i < f->session.site_count; i++)
		slope_encode_site(&f->encoder, &(struct slope_site_entry){
			.number = (uint32_t)i, .module = f->session.site[i].module, .offset = f->session.site[i].offset });
	for (size_t i = 0; i < f->threads; i++)
		put_contexts(f, i);
	for (size_t i = 0; i < f->threads; i++)
		put_places(f, &f->folded[i]);
	return slope_encode_end(&f->encoder);
}

/* The file under its temporary name. */
static void make_part(const char *out, char *part)
{
	make_path(out, part, PATH_BYTES);
	size_t used = strlen(part);

	snprintf(part + used, PATH_BYTES - used, ".tmp.%ld", (long)slope_sampler.pid);
}

/* The file of slope_samplefile_keep_open, by the time that it is needed: programs close descriptors that they do not know. */
static struct {
	int fd;
	pid_t pid;
	ino_t inode;
} kept = { .fd = -1 };

static ino_t inode_of(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static bool has_kept(void)
{
	return kept.pid == slope_sampler.pid && kept.inode && kept.inode == inode_of(kept.fd);
}

void slope_samplefile_keep_open(void)
{
	char part[PATH_BYTES];
	int error = errno, fd;

	if (slope_sampler.on && syscall(SYS_getpid) == slope_sampler.pid && !has_kept()) {
		make_part(slope_sampler.out, part);
		fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		kept.fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
		kept.pid = slope_sampler.pid;
		kept.inode = inode_of(kept.fd);
		if (fd >= 0)
			close(fd);
	}
	errno = error;
}

/* The temporary file, and whether its name may be out of reach. */
static int open_part(const char *part, bool *held)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	*held = fd < 0 && has_kept();
	return *held ? kept.fd : fd;
}

static bool write_file(struct file *f, const char *out, const char *ended, int exit_code, int signal)
{
	bool good = false, held;
	const struct slope_config config = { .units = slope_meters_units(&slope_sampler.meters), .contexts = true };

	if (strcmp(ended, "exec"))
		make_path(out, f->path, sizeof f->path);
	else
		make_image_path(f->path, sizeof f->path);
	make_part(out, f->part);
	slope_arena_init(&f->arena, &slope_sampler.host);
	if (slope_session_init(&f->session, &config, &slope_sampler.host)) {
		if (fold_all(f) && (f->fd = open_part(f->part, &held)) >= 0) {
			good = put_all(f, ended, exit_code, signal);
			close(f->fd);
			good = good && (held || rename(f->part, f->path) == 0);
		}
		slope_session_fini(&f->session);
	}
	slope_arena_fini(&f->arena);
	return good;
}

/* Waits while another thread writes, for some seconds at most; then it is this one's turn, or nobody's. */
static bool may_write(void)
{
	const struct timespec turn = { 0, 1000000 };

	for (unsigned turns = 0; turns < WRITE_TURNS; turns++) {
		if (!__atomic_exchange_n(&slope_sampler.writing, 1, __ATOMIC_ACQ_REL))
			return true;
		syscall(SYS_nanosleep, &turn, NULL);
	}
	return false;
}

static bool write_to(const char *out, const char *ended, int exit_code, int signal)
{
	const struct slope_host *host = &slope_sampler.host;
	size_t bytes = slope_page_round(sizeof(struct file));
	int error = errno;
	sigset_t all, before;
	bool good = false;
	int cancellable;

	if (!slope_sampler.on || syscall(SYS_getpid) != slope_sampler.pid)
		return false;
	/* A thread that is to be cancelled must not be so in the midst of it: files are where that happens. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
	/* A second signal that would end the process waits until the profile of the first is there. */
	sigfillset(&all);
	SLOPE_REAL(pthread_sigmask)(SIG_BLOCK, &all, &before);
	if (!may_write()) {
		SLOPE_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
		pthread_setcancelstate(cancellable, NULL);
		errno = error;
		return false;
	}
	stop();
	if (slope_sampler.meters.column[SLOPE_METER_LIVE] >= 0)
		slope_liveblocks_settle(slope_sampler.meters.column[SLOPE_METER_LIVE]);
	struct file *f = host->pages(host->ctx, bytes);

	if (f) {
		good = write_file(f, out, ended, exit_code, signal);
		host->release(host->ctx, f, bytes);
	}
	__atomic_store_n(&slope_sampler.stopped, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slope_sampler.writing, 0, __ATOMIC_RELEASE);
	SLOPE_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancellable, NULL);
	errno = error;
	return good;
}

bool slope_samplefile_write(const char *ended, int exit_code, int signal)
{
	return write_to(slope_sampler.out, ended, exit_code, signal);
}

bool slope_samplefile_snapshot(const char *out)
{
	return write_to(out, "running", -1, 0);
}

void slope_samplefile_remove(void)
{
	char path[PATH_BYTES];

	make_image_path(path, sizeof path);
	unlink(path);
}
