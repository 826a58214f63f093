/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile file. It is written under a temporary name and renamed when it
 * is whole, so that nobody ever finds half of one under its real name. Who has
 * given up the right to do so has opened it before, and `record` renames it.
 */
#include "sources/valgrind/tool.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_vkiscnums.h"

#include "format/encode.h"

#define PATH_BYTES 4200
#define BUFFER_BYTES 65536
#define HIGH_DESCRIPTOR 1000         /* out of the way of the program's own */
#define WAIT_ALL 0x40000000          /* __WALL: also for children that send no signal */

struct file {
	Int fd;
	UInt used;
	UChar buffer[BUFFER_BYTES];
};

static Bool write_all(Int fd, const UChar *bytes, SizeT count)
{
	while (count) {
		Int n = VG_(write)(fd, bytes, (Int)count);

		if (n <= 0)
			return False;
		bytes += n;
		count -= (SizeT)n;
	}
	return True;
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
	VG_(memcpy)(f->buffer + f->used, bytes, count);
	f->used += (UInt)count;
	return true;
}

/* --slope-out with this process's id for %p; other processes than the first append theirs where there is no %p. */
static void own_name(HChar *path)
{
	const HChar *from = tool.options.out;
	Bool has_pid = False;
	SizeT n = 0;

	for (; *from && n < PATH_BYTES - 64; from++) {
		if (from[0] == '%' && from[1] == 'p') {
			n += VG_(sprintf)(path + n, "%d", VG_(getpid)());
			has_pid = True;
			from++;
		} else {
			path[n++] = *from;
		}
	}
	path[n] = 0;
	if (!has_pid && VG_(getpid)() != tool.options.main_pid)
		VG_(sprintf)(path + n, ".%d", VG_(getpid)());
}

static Bool encode(Int fd, const struct slope_run_info *run)
{
	struct slope_encoder *e = tool_pages(NULL, slope_page_round(sizeof *e));
	struct file *f = tool_pages(NULL, slope_page_round(sizeof *f));
	Bool ok = False;

	if (e && f) {
		f->fd = fd;
		e->writer = (struct slope_writer){ take, f };
		ok = slope_encode_session(e, &tool.session, run) && flush(f);
	}
	if (e)
		tool_release(NULL, e, slope_page_round(sizeof *e));
	if (f)
		tool_release(NULL, f, slope_page_round(sizeof *f));
	return ok;
}

static void describe_run(struct slope_run_info *run, const HChar **argv, UInt max)
{
	UInt n = 0;

	argv[n++] = VG_(args_the_exename);
	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)) && n < max; i++)
		argv[n++] = *(HChar **)VG_(indexXA)(VG_(args_for_client), i);
	run->argc = n;
	run->argv = argv;
	run->source = "valgrind";
	run->created_by = SLOPE_VERSION;
	run->directory = VG_(get_startup_wd)();
	run->unit_name[0] = tool.ir_first ? "ir" : "bb";
	run->unit_name[1] = tool.units == 1 ? NULL : tool.ir_first ? "bb" : "ir";
}

static void name_temporary(HChar *temporary, const HChar *path)
{
	VG_(sprintf)(temporary, "%s.tmp.%d", path, VG_(getpid)());
}

/* The file of tool_keep_open, by the time that it is needed: programs close descriptors that they do not know. */
static struct {
	Int pid;
	ULong inode;
} kept;

static ULong inode_of(Int fd)
{
	struct vg_stat st;

	return VG_(fstat)(fd, &st) == 0 ? st.ino : 0;
}

static Bool has_kept(void)
{
	return kept.pid == VG_(getpid)() && kept.inode && kept.inode == inode_of(HIGH_DESCRIPTOR);
}

void tool_keep_open(void)
{
	HChar path[PATH_BYTES], temporary[PATH_BYTES + 32];
	SysRes opened;

	if (has_kept() || inode_of(HIGH_DESCRIPTOR))
		return;
	own_name(path);
	name_temporary(temporary, path);
	opened = VG_(open)(temporary, VKI_O_CREAT | VKI_O_WRONLY, 0644);
	if (sr_isError(opened))
		return;
	VG_(dup2)((Int)sr_Res(opened), HIGH_DESCRIPTOR);
	VG_(close)((Int)sr_Res(opened));
	kept.pid = VG_(getpid)();
	kept.inode = inode_of(HIGH_DESCRIPTOR);
}

/* The temporary file, or -1 with a word about that; and whether its name may be out of reach. */
static Int open_temporary(const HChar *temporary, Bool *held)
{
	SysRes opened = VG_(open)(temporary, VKI_O_CREAT | VKI_O_WRONLY | VKI_O_TRUNC, 0644);

	*held = sr_isError(opened) && has_kept();
	if (!sr_isError(opened))
		return (Int)sr_Res(opened);
	if (!*held)
		VG_(fmsg)("slope: cannot write %s (error %lu); choose another place with -o FILE\n", temporary, sr_Err(opened));
	return *held ? HIGH_DESCRIPTOR : -1;
}

static void write_to(const HChar *path, Int pid, Int ppid, Int exit_code, const HChar *ended)
{
	static const HChar *argv[4096];
	HChar temporary[PATH_BYTES + 32];
	struct slope_run_info run = {
		.exit_code = exit_code, .ended = ended, .process = (ULong)pid, .parent_process = (ULong)ppid,
	};
	Bool held;
	Int fd;

	describe_run(&run, argv, 4096);
	name_temporary(temporary, path);
	fd = open_temporary(temporary, &held);
	if (fd < 0)
		return;
	if (!encode(fd, &run)) {
		VG_(fmsg)("slope: the profile could not be written completely\n");
		VG_(close)(fd);
		return;
	}
	VG_(close)(fd);
	if (!held && VG_(rename)(temporary, path))
		VG_(fmsg)("slope: cannot rename %s to %s\n", temporary, path);
}

void tool_write_profile(Int exit_code, const HChar *ended)
{
	HChar path[PATH_BYTES];

	own_name(path);
	write_to(path, VG_(getpid)(), VG_(getppid)(), exit_code, ended);
}

static void exec_name(HChar *path)
{
	own_name(path);
	VG_(sprintf)(path + VG_(strlen)(path), ".exec%u", tool.exec_count + 1);
}

void tool_before_exec(void)
{
	HChar path[PATH_BYTES];
	struct vg_stat there;
	Int status, pid = VG_(getpid)(), ppid = VG_(getppid)();

	/* An earlier image of this process may have used a number already. */
	for (exec_name(path); !sr_isError(VG_(stat)(path, &there)); exec_name(path))
		tool.exec_count++;
	/* A child that sends no signal when it ends: the program must not notice. */
	Long child = (Long)tool_syscall(__NR_clone, 0, 0, 0, 0, 0, 0);

	if (child == 0) {
		tool_end_all_threads();
		write_to(path, pid, ppid, -1, "exec");
		tool_syscall(__NR_exit_group, 0, 0, 0, 0, 0, 0);
	}
	if (child > 0)
		tool_syscall(__NR_wait4, (UWord)child, (UWord)&status, WAIT_ALL, 0, 0, 0);
}

void tool_after_failed_exec(void)
{
	HChar path[PATH_BYTES];

	exec_name(path);
	VG_(unlink)(path);
}
