/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile file. It is written under a temporary name and renamed when it
 * is whole, so that nobody ever finds half of one under its real name. Who has
 * given up the right to do so has opened it before, and `record` renames it.
 */
#include "sources/translator/observing.h"

#include <asm/stat.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#include "format/encode.h"
#include "sources/translator/following.h"

#define BUFFER_BYTES 65536u
#define WAIT_ALL 0x40000000      /* __WALL: also for children that send no signal */
#define TEMPORARY ".tmp."
#define PROBLEMS_MAX 8u
#define PROBLEM_BYTES 400u
#define HIGH_DESCRIPTOR 1000     /* or above: out of the way of the program's own */

struct file {
	long fd;
	size_t used;
	uint8_t buffer[BUFFER_BYTES];
};

static bool write_all(long fd, const uint8_t *bytes, size_t count)
{
	while (count) {
		long n = system_call(__NR_write, fd, (long)bytes, (long)count, 0, 0, 0);

		if (n <= 0)
			return false;
		bytes += n;
		count -= (size_t)n;
	}
	return true;
}

static bool flush(struct file *f)
{
	bool ok = write_all(f->fd, f->buffer, f->used);

	f->used = 0;
	return ok;
}

static bool take(void *ctx, const void *bytes, size_t count)
{
	struct file *f = ctx;

	if (f->used + count > BUFFER_BYTES && !flush(f))
		return false;
	if (count > BUFFER_BYTES)
		return write_all(f->fd, bytes, count);
	slope_copy(f->buffer + f->used, bytes, count);
	f->used += count;
	return true;
}

static size_t append_number(char *path, size_t n, uint64_t value)
{
	struct system_digits digits;

	return system_append(path, n, RUNTIME_PATH_BYTES, system_number(&digits, value, 10));
}

static uint64_t own_pid(void)
{
	return (uint64_t)system_call(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

/* --slope-out with this process's id for %p; other processes than the first append theirs where there is no %p. */
static size_t own_name(char *path)
{
	bool has_pid = false;
	size_t n = 0;

	for (const char *from = observer.out; *from; from++) {
		char one[2] = { *from, 0 };

		if (from[0] == '%' && from[1] == 'p') {
			n = append_number(path, n, own_pid());
			has_pid = true;
			from++;
		} else {
			n = system_append(path, n, RUNTIME_PATH_BYTES, one);
		}
	}
	if (!has_pid && own_pid() != observer.main_pid) {
		n = system_append(path, n, RUNTIME_PATH_BYTES, ".");
		n = append_number(path, n, own_pid());
	}
	return n;
}

static bool encode(long fd, const struct slope_run_info *run)
{
	struct slope_encoder *e = system_pages(slope_page_round(sizeof *e), false);
	struct file *f = system_pages(slope_page_round(sizeof *f), false);

	if (!e || !f)
		return false;
	f->fd = fd;
	e->writer = (struct slope_writer){ take, f };
	bool ok = slope_encode_session(e, &observer.session, run) && flush(f);

	system_release(e, slope_page_round(sizeof *e));
	system_release(f, slope_page_round(sizeof *f));
	return ok;
}

static void describe_run(struct slope_run_info *run, const char *directory)
{
	run->argc = 0;
	while (runtime.argv[run->argc])
		run->argc++;
	run->argv = (const char *const *)runtime.argv;
	run->source = "translator";
	run->created_by = SLOPE_VERSION;
	run->directory = directory;
	if (observer.unit_ir >= 0)
		run->unit_name[observer.unit_ir] = "ir";
	if (observer.unit_bb >= 0)
		run->unit_name[observer.unit_bb] = "bb";
	if (observer.unit_time >= 0)
		run->unit_name[observer.unit_time] = "time";
}

/* What counters have to say. */
static void describe_problems(struct slope_run_info *run)
{
	static char text[PROBLEMS_MAX][PROBLEM_BYTES];
	static const char *problem[PROBLEMS_MAX];

	while (run->problem_count < PROBLEMS_MAX &&
	       counters_problem((unsigned)run->problem_count, text[run->problem_count], PROBLEM_BYTES)) {
		problem[run->problem_count] = text[run->problem_count];
		run->problem_count++;
	}
	run->problem = problem;
}

static void name_temporary(char *temporary, const char *path)
{
	size_t n = system_append(temporary, 0, RUNTIME_PATH_BYTES, path);

	n = system_append(temporary, n, RUNTIME_PATH_BYTES, TEMPORARY);
	append_number(temporary, n, own_pid());
}

/* The file of profilefile_keep_open, by the time that it is needed: programs close descriptors that they do not know. */
static struct {
	long fd;
	uint64_t pid, inode;
} kept = { .fd = -1 };

static uint64_t inode_of(long fd)
{
	struct stat st;

	return system_call(__NR_fstat, fd, (long)&st, 0, 0, 0, 0) ? 0 : st.st_ino;
}

static void keep_open(void)
{
	char path[RUNTIME_PATH_BYTES], temporary[RUNTIME_PATH_BYTES];

	if (!observer.profiles || observer.written || (kept.pid == own_pid() && kept.inode == inode_of(kept.fd)))
		return;
	own_name(path);
	name_temporary(temporary, path);
	long fd = system_open(temporary, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	kept.fd = system_call(__NR_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0, 0, 0);
	system_close(fd);
	kept.pid = own_pid();
	kept.inode = kept.fd < 0 ? 0 : inode_of(kept.fd);
}

/* A thread that changes its user has all others do so. */
void profilefile_keep_open(void)
{
	lock_take(&runtime.lock);
	keep_open();
	lock_give(&runtime.lock);
}

/* The temporary file, and whether its name may be out of reach. */
static long open_temporary(const char *temporary, bool *held)
{
	long fd = system_open(temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);

	*held = fd < 0 && kept.pid == own_pid() && kept.inode && kept.inode == inode_of(kept.fd);
	return *held ? kept.fd : fd;
}

static void write_to(const char *path, struct slope_run_info *run)
{
	char temporary[RUNTIME_PATH_BYTES], directory[RUNTIME_PATH_BYTES];
	bool held;

	directory[0] = 0;
	system_call(__NR_getcwd, (long)directory, sizeof directory, 0, 0, 0, 0);
	describe_run(run, directory);
	if (observer.measures)
		describe_problems(run);
	name_temporary(temporary, path);
	long fd = open_temporary(temporary, &held);

	/* The program has used up its descriptors, and here it ends, or this is a copy of it. */
	if (fd == -EMFILE) {
		system_close(0);
		fd = open_temporary(temporary, &held);
	}
	if (fd < 0) {
		system_say("cannot write ", temporary, "; choose another place with -o FILE", NULL);
		return;
	}
	bool whole = encode(fd, run);

	system_close(fd);
	if (!whole)
		system_say("the profile could not be written completely", NULL);
	else if (!held && system_call(__NR_rename, (long)temporary, (long)path, 0, 0, 0, 0))
		system_say("cannot rename ", temporary, " to ", path, NULL);
}

static void note_name(struct slope_thread *core, uint64_t tid)
{
	char path[64];
	struct system_digits digits;

	if (core->name[0])
		return;                  /* the program has named it */
	size_t n = system_append(path, system_append(path, 0, sizeof path, "/proc/self/task/"), sizeof path,
				 system_number(&digits, tid, 10));

	system_append(path, n, sizeof path, "/comm");
	long fd = system_open(path, O_RDONLY | O_CLOEXEC, 0);
	long got = fd >= 0 ? system_call(__NR_read, fd, (long)core->name, sizeof core->name - 1, 0, 0, 0) : 0;

	if (fd >= 0)
		system_close(fd);
	if (got > 0 && core->name[got - 1] == '\n')
		got--;
	core->name[got > 0 ? got : 0] = 0;
}

void profilefile_note_names(struct context *ctx)
{
	for (struct fiber *f = ctx->fibers; f; f = f->next)
		note_name(f->core, ctx->tid);
}

static void finish_thread(struct context *ctx)
{
	if (observer.paths)
		pathevents_end(ctx);
	fibers_end_all(ctx);
}

void profilefile_write(int64_t exit_code, const char *ended)
{
	char path[RUNTIME_PATH_BYTES];
	struct slope_run_info run = {
		.exit_code = exit_code, .ended = ended, .process = own_pid(),
		.parent_process = (uint64_t)system_call(__NR_getppid, 0, 0, 0, 0, 0, 0),
	};

	if (!observer.profiles)
		return;
	threading_stand_still();
	if (observer.written)
		return;
	observer.written = true;
	threading_each(profilefile_note_names);
	threading_each(finish_thread);
	own_name(path);
	write_to(path, &run);
}

static void exec_name(char *path)
{
	size_t n = own_name(path);

	n = system_append(path, n, RUNTIME_PATH_BYTES, ".exec");
	append_number(path, n, observer.exec_count + 1);
}

void profilefile_before_exec(void)
{
	char path[RUNTIME_PATH_BYTES];
	struct slope_run_info run = {
		.exit_code = -1, .ended = "exec", .process = own_pid(),
		.parent_process = (uint64_t)system_call(__NR_getppid, 0, 0, 0, 0, 0, 0),
	};
	int status;

	threading_stand_still();
	if (!observer.profiles)
		return;
	/* An earlier image of this process may have used a number already. */
	for (exec_name(path); !system_call(__NR_access, (long)path, 0, 0, 0, 0, 0); exec_name(path))
		observer.exec_count++;
	/* The names are those of this process; a child that sends no signal when it ends: the program must not notice. */
	threading_each(profilefile_note_names);
	long child = system_call(__NR_clone, 0, 0, 0, 0, 0, 0);

	if (child == 0) {
		threading_each(finish_thread);
		write_to(path, &run);
		system_call(__NR_exit_group, 0, 0, 0, 0, 0, 0);
	}
	if (child > 0)
		system_call(__NR_wait4, child, (long)&status, WAIT_ALL, 0, 0, 0);
}

void profilefile_after_failed_exec(void)
{
	char path[RUNTIME_PATH_BYTES];

	threading_go_on();
	if (!observer.profiles)
		return;
	exec_name(path);
	system_call(__NR_unlink, (long)path, 0, 0, 0, 0, 0);
}
