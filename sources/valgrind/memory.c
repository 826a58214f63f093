/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory: the shadow windows that translated code reaches with one addition,
 * the slow side of reads and writes, and what the kernel reads and writes.
 *
 * Valgrind 3.19 keeps the client below 128 GB unless the program itself asks
 * for higher addresses, so each fiber gets a window over the first 128 GB,
 * reserved far above and backed by pages on first touch. When a window cannot
 * be had, or the client is granted memory beyond it, code is translated anew
 * with a call for each access: slower, and the same answers.
 */
#include "sources/valgrind/closing.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_transtab.h"
#include "pub_tool_vkiscnums.h"

#include "core/access.h"

#define WINDOW_LIMIT (UINT64_C(1) << 37)
#define CLEAR_BY_PAGES_BYTES 65536u
#define WINDOWS_KEPT 64u
#define MADVISE_DONTNEED 4
#define MREMAP_TO 3              /* MREMAP_MAYMOVE | MREMAP_FIXED */

/* Pages that Valgrind's own book-keeping does not know: there is room above 128 GB only. */
static void *map_pages(SizeT bytes, UInt extra_flags)
{
	Addr a = tool_syscall(__NR_mmap, 0, bytes, VKI_PROT_READ | VKI_PROT_WRITE,
			     VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | extra_flags, (UWord)-1, 0);

	return a >= (Addr)-4095 ? NULL : (void *)a;
}

void *tool_pages(void *ctx, size_t bytes)
{
	return map_pages(bytes, 0);
}

void tool_release(void *ctx, void *p, size_t bytes)
{
	tool_syscall(__NR_munmap, (UWord)p, bytes, 0, 0, 0, 0);
}

static SizeT window_bytes(void)
{
	return (WINDOW_LIMIT >> tool.session.config.cell_log2) * sizeof(UInt);
}

static struct {
	void *spare[WINDOWS_KEPT];
	UInt count;
	void *stand_in;
} windows;

/*
 * Where no window could be had, inlined checks run on until their block ends:
 * in a window of zeros, where each read is stale and goes to the helper.
 */
Addr tool_window_of(const struct fiber *f)
{
	return (Addr)(f->window ? f->window : windows.stand_in);
}

Bool tool_window_new(struct fiber *f)
{
	if (!windows.stand_in && !(windows.stand_in = map_pages(window_bytes(), VKI_MAP_NORESERVE)))
		return False;
	if (windows.count)
		f->window = windows.spare[--windows.count];
	else
		f->window = map_pages(window_bytes(), VKI_MAP_NORESERVE);
	if (!f->window)
		return False;
	f->core->shadow.window = f->window;
	f->core->shadow.window_cells = WINDOW_LIMIT >> tool.session.config.cell_log2;
	return True;
}

void tool_window_free(struct fiber *f)
{
	if (!f->window)
		return;
	if (windows.count < WINDOWS_KEPT) {
		tool_syscall(__NR_madvise, (UWord)f->window, window_bytes(), MADVISE_DONTNEED, 0, 0, 0);
		windows.spare[windows.count++] = f->window;
	} else {
		tool_release(NULL, f->window, window_bytes());
	}
	f->window = NULL;
}

void tool_log_new(struct fiber *f)
{
	f->log = map_pages(slope_page_round(sizeof *f->log), 0);
	if (f->log)
		slope_log_set(f->core, f->log->entry, &f->log->bytes, closing_scans(tool.log_lanes));
}

void tool_log_free(struct fiber *f)
{
	if (f->log)
		tool_release(NULL, f->log, slope_page_round(sizeof *f->log));
	f->log = NULL;
	f->core->log = NULL;
	f->core->log_end = NULL;
}

/* Visits the pages of [at, end) that exist or are swapped out. */
static void each_backed_page(Int pagemap, HChar *at, HChar *end, void (*visit)(void *, uint32_t *, size_t), void *arg)
{
	ULong entry[512];

	while (at < end) {
		UInt pages = (UInt)((Addr)(end - at) / SLOPE_PAGE_BYTES);
		Bool known;

		if (pages > 512)
			pages = 512;
		known = pagemap >= 0 && VG_(lseek)(pagemap, (Long)((Addr)at / SLOPE_PAGE_BYTES * 8), VKI_SEEK_SET) >= 0 &&
			VG_(read)(pagemap, entry, (Int)(pages * 8)) == (Int)(pages * 8);
		for (UInt i = 0; i < pages; i++, at += SLOPE_PAGE_BYTES)
			if (!known || entry[i] >> 62)
				visit(arg, (uint32_t *)at, SLOPE_PAGE_BYTES / sizeof(uint32_t));
	}
}

/* Only where the client has memory can its words have been touched. */
void tool_each_window_word(void *ctx, struct slope_thread *t, void (*visit)(void *arg, uint32_t *words, size_t count), void *arg)
{
	UInt log2 = tool.session.config.cell_log2, kinds = SkFileC | SkAnonC | SkShmC;
	Int pagemap = VG_(fd_open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
	Addr *start, one;
	Int count = VG_(am_get_segment_starts)(kinds, &one, 1);
	HChar *done = NULL;

	if (count < 0)
		count = -count;
	start = VG_(malloc)("slope.segments", (SizeT)(count + 1) * sizeof *start);
	count = t->shadow.window ? VG_(am_get_segment_starts)(kinds, start, count + 1) : 0;
	for (Int i = 0; i < count; i++) {
		const NSegment *segment = VG_(am_find_nsegment)(start[i]);
		Addr end = segment->end < WINDOW_LIMIT ? segment->end : WINDOW_LIMIT - 1;
		HChar *from = (HChar *)((Addr)(t->shadow.window + (start[i] >> log2)) & ~(Addr)(SLOPE_PAGE_BYTES - 1));
		HChar *to = (HChar *)slope_page_round((Addr)(t->shadow.window + (end >> log2) + 1));

		if (start[i] >= WINDOW_LIMIT)
			break;
		if (from < done)
			from = done;     /* neighbours may share a shadow page: each word once */
		each_backed_page(pagemap, from, to, visit, arg);
		if (to > done)
			done = to;
	}
	VG_(free)(start);
	if (pagemap >= 0)
		VG_(close)(pagemap);
}

/*
 * Valgrind allows tools to throw translations away in client requests only. It
 * is as safe in system calls and between runs of client code, where Valgrind
 * does the same for unmapped code; there we say so ourselves.
 */
extern Bool VG_(ok_to_discard_translations);

void tool_retranslate_if_due(void)
{
	Bool before = VG_(ok_to_discard_translations);

	if (!tool.retranslate_due)
		return;
	tool.retranslate_due = False;
	VG_(ok_to_discard_translations) = True;
	VG_(discard_translations_safely)(0x1000, ~(SizeT)0xfff, "slope: another kind of access checks");
	VG_(ok_to_discard_translations) = before;
}

void tool_stop_soon(void *guest_state)
{
	((VexGuestAMD64State *)guest_state)->host_EvC_COUNTER = 0;   /* the next block goes back to the scheduler */
}

void tool_leave_inlined(void)
{
	if (!tool.inlined)
		return;
	tool.inlined = False;
	tool.retranslate_due = True;
}

VG_REGPARM(2) void tool_read(Addr a, UWord bytes)
{
	slope_thread_read(tool.core, a, bytes);
}

VG_REGPARM(2) void tool_write(Addr a, UWord bytes)
{
	slope_thread_write(tool.core, a, bytes);
}

VG_REGPARM(1) void tool_read_8(Addr a)
{
	struct slope_thread *core = tool.core;

	if (LIKELY((a & 3) == 0 && core->shadow.window))
		slope_thread_read_pair(core, a >> 2, core->shadow.window + (a >> 2));
	else
		slope_thread_read(core, a, 8);
}

VG_REGPARM(1) void tool_read_1(Addr a)
{
	struct slope_thread *core = tool.core;

	if (LIKELY(core->shadow.window != NULL))
		slope_thread_read_words(core, a >> 2, core->shadow.window + (a >> 2), 1);
	else
		slope_thread_read(core, a, 1);
}

VG_REGPARM(1) void tool_read_4(Addr a)
{
	if (LIKELY((a & 3) == 0))
		tool_read_1(a);
	else
		slope_thread_read(tool.core, a, 4);
}

/* Zeroes the window's words of an address range; whole pages go back to the system. */
static void clear_window(struct slope_thread *core, Addr a, SizeT bytes)
{
	UInt log2 = tool.session.config.cell_log2;
	UInt *word = core->shadow.window + (a >> log2), *end = core->shadow.window + ((a + bytes - 1) >> log2) + 1;

	if ((Addr)end - (Addr)word >= CLEAR_BY_PAGES_BYTES) {
		UInt *first_page = (UInt *)slope_page_round((Addr)word);
		UInt *last_page = (UInt *)((Addr)end & ~(Addr)(SLOPE_PAGE_BYTES - 1));

		tool_syscall(__NR_madvise, (UWord)first_page, (Addr)last_page - (Addr)first_page, MADVISE_DONTNEED, 0, 0, 0);
		while (word < first_page)
			*word++ = 0;
		word = last_page;
	}
	for (; word < end; word++)
		if (*word)               /* a page that was never written stays unbacked */
			*word = 0;
}

static void forget(Addr a, SizeT bytes)
{
	if (!bytes || !tool.running)
		return;
	slope_session_forget(&tool.session, a, bytes);
	for (size_t i = 1; i < tool.session.thread_count; i++) {
		struct slope_thread *core = tool.session.thread[i];

		if (core->shadow.window && a < WINDOW_LIMIT)
			clear_window(core, a, a + bytes <= WINDOW_LIMIT ? bytes : WINDOW_LIMIT - a);
	}
}

/* A file's contents are input, unless it is code that was loaded. */
static Bool is_input(Addr a)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);
	const HChar *path = segment && segment->kind == SkFileC ? VG_(am_get_filename)(segment) : NULL;

	return path ? !tool_is_elf(path) : segment && segment->kind == SkShmC;
}

static void mapped(Addr a, SizeT bytes, Bool rr, Bool ww, Bool xx, ULong di_handle)
{
	forget(a, bytes);
	if (tool.trms && is_input(a))
		slope_session_map_file(&tool.session, a, bytes);
	if (a + bytes > WINDOW_LIMIT)
		tool_leave_inlined();
	tool_retranslate_if_due();
}

static void unmapped(Addr a, SizeT bytes)
{
	forget(a, bytes);
	tool_forget_code(a, bytes);
	tool_retranslate_if_due();
}

/* Moves the window's words of a range that lies in the window before and after: as pages, where they fill pages. */
static void move_window(struct slope_thread *core, Addr from, Addr to, SizeT bytes)
{
	UInt log2 = tool.session.config.cell_log2;
	UInt *old = core->shadow.window + (from >> log2), *new = core->shadow.window + (to >> log2);
	SizeT word_bytes = (bytes >> log2) * sizeof *old;

	if (((Addr)old | (Addr)new | word_bytes) % SLOPE_PAGE_BYTES == 0) {
		tool_syscall(__NR_mremap, (UWord)old, word_bytes, word_bytes, MREMAP_TO, (UWord)new, 0);
		tool_syscall(__NR_mmap, (UWord)old, word_bytes, VKI_PROT_READ | VKI_PROT_WRITE,
			    VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_NORESERVE | VKI_MAP_FIXED, (UWord)-1, 0);
		return;
	}
	for (SizeT i = 0; i < word_bytes / sizeof *old; i++)
		if (new[i] != old[i])    /* a page that was never written stays unbacked */
			new[i] = old[i];
}

static void remapped(Addr from, Addr to, SizeT bytes)
{
	if (to + bytes > WINDOW_LIMIT)
		tool_leave_inlined();
	tool_retranslate_if_due();
	if (from == to)
		return;
	slope_session_move(&tool.session, from, to, bytes);
	for (size_t i = 1; i < tool.session.thread_count && from + bytes <= WINDOW_LIMIT && to + bytes <= WINDOW_LIMIT; i++)
		if (tool.session.thread[i]->shadow.window)
			move_window(tool.session.thread[i], from, to, bytes);
}

static void heap_end_fell(Addr a, SizeT bytes)
{
	forget(a, bytes);
}

static struct slope_thread *core_of(ThreadId tid)
{
	return tid != VG_INVALID_THREADID && tool.thread[tid].fiber ? tool.thread[tid].fiber->core : NULL;
}

static void kernel_reads(CorePart part, ThreadId tid, const HChar *what, Addr a, SizeT bytes)
{
	struct slope_thread *core = core_of(tid);

	if (part == Vg_CoreSysCall && core && VG_(am_is_valid_for_client)(a, bytes, VKI_PROT_READ))
		slope_thread_read(core, a, bytes);
}

static void kernel_reads_text(CorePart part, ThreadId tid, const HChar *what, Addr a)
{
	const HChar *at = (const HChar *)a;

	if (part != Vg_CoreSysCall)
		return;
	/* It may run into memory that is not there: the system call will say so. */
	do {
		if ((at == (const HChar *)a || (Addr)at % SLOPE_PAGE_BYTES == 0) &&
		    !VG_(am_is_valid_for_client)((Addr)at, 1, VKI_PROT_READ))
			break;
	} while (*at++);
	if ((Addr)at > a)
		kernel_reads(part, tid, what, a, (Addr)at - a);
}

static void kernel_wrote(CorePart part, ThreadId tid, Addr a, SizeT bytes)
{
	if (part == Vg_CoreSysCall && tid != VG_INVALID_THREADID && tool.thread[tid].unwritten == a && a)
		return;
	if ((part == Vg_CoreSysCall || part == Vg_CoreSignal) && tool.running)
		slope_session_kernel_write(&tool.session, a, bytes);
}

void tool_watch_memory(void)
{
	VG_(track_new_mem_mmap)(mapped);
	VG_(track_die_mem_munmap)(unmapped);
	VG_(track_copy_mem_remap)(remapped);
	VG_(track_die_mem_brk)(heap_end_fell);
	VG_(track_pre_mem_read)(kernel_reads);
	VG_(track_pre_mem_read_asciiz)(kernel_reads_text);
	VG_(track_post_mem_write)(kernel_wrote);
}
