/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slope as a Valgrind tool: input-sensitive profiles of unmodified programs,
 * exact, threads serialized. This file has the options and tells Valgrind what
 * we want to hear of; tool.h says where the rest is.
 */
#include "sources/valgrind/closing.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vkiscnums.h"

#include "include/slope.h"

struct tool tool = {
	.options = { .cell_bytes = 4, .cost = "ir", .input = "trms", .contexts = -1 },
	.exit_code = -1,
};

static void add_pattern(XArray **list, const HChar *pattern)
{
	if (!*list)
		*list = VG_(newXA)(VG_(malloc), "slope.patterns", VG_(free), sizeof pattern);
	VG_(addToXA)(*list, &pattern);
}

static Bool take_option(const HChar *arg)
{
	struct options *o = &tool.options;
	const HChar *text;

	if (VG_STR_CLO(arg, "--slope-out", o->out) || VG_BINT_CLO(arg, "--main-pid", o->main_pid, 0, 0x7fffffff) ||
	    VG_BINT_CLO(arg, "--cell", o->cell_bytes, 1, 64) || VG_STR_CLO(arg, "--cost", o->cost) ||
	    VG_STR_CLO(arg, "--input", o->input) || VG_BINT_CLO(arg, "--max-points", o->max_points, 1, 0x7fffffff) ||
	    VG_BINT_CLO(arg, "--stamp-limit", o->stamp_limit, 8, 0x40000000) ||
	    VG_BINT_CLO(arg, "--contexts", o->contexts, 0, 0x7fffffff) ||
	    VG_STR_CLO(arg, "--burst", o->burst) || VG_BINT_CLO(arg, "--context", o->context, 0, SLOPE_VARIANT_CALLERS_MAX) ||
	    VG_BINT_CLO(arg, "--max-contexts", o->max_contexts, 0, 0x7fffffff) ||
	    VG_BOOL_CLO(arg, "--context-sites", o->context_sites) ||
	    VG_BOOL_CLO(arg, "--context-collapse", o->context_collapse))
		return True;
	if (VG_STR_CLO(arg, "--access", text)) {
		o->access_by_call = VG_(strcmp)(text, "call") == 0;
		o->access_by_ir = VG_(strcmp)(text, "ir") == 0;
		o->narrow = VG_(strcmp)(text, "narrow") == 0;
		return True;
	}
	if (VG_STR_CLO(arg, "--toggle", text))
		add_pattern(&o->toggle, text);
	else if (VG_STR_CLO(arg, "--only", text))
		add_pattern(&o->only, text);
	else if (VG_STR_CLO(arg, "--skip", text))
		add_pattern(&o->skip, text);
	else
		return False;
	return True;
}

static void print_usage(void)
{
	VG_(printf)("    run through `slope record`; see its manual page\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    --access=call|ir|inline   check accesses by calls, or in code that VEX makes [inline]\n");
}

static void choose_units(const HChar *cost)
{
	tool.count_ir = VG_(strstr)(cost, "ir") != NULL;
	tool.count_bb = VG_(strstr)(cost, "bb") != NULL;
	if (!tool.count_ir && !tool.count_bb)
		tool.count_ir = True;
	tool.ir_first = tool.count_ir && VG_(strncmp)(cost, "bb", 2) != 0;
	tool.units = (UInt)tool.count_ir + (UInt)tool.count_bb;
}

static UInt choose_metrics(const HChar *input)
{
	tool.trms = VG_(strcmp)(input, "rms") != 0;
	if (VG_(strcmp)(input, "both") == 0)
		return 1u << SLOPE_METRIC_TRMS | 1u << SLOPE_METRIC_RMS;
	return tool.trms ? 1u << SLOPE_METRIC_TRMS : 1u << SLOPE_METRIC_RMS;
}

static void choose_contexts(struct slope_config *config)
{
	const struct options *o = &tool.options;
	HChar *end;

	config->contexts = o->contexts >= 0;
	config->context_k = config->contexts ? (UInt)o->contexts : 0;
	config->context_collapse = o->context_collapse;
	config->variant_k = (UInt)o->context;
	config->variants_max = (UInt)o->max_contexts;
	if (!o->burst)
		return;
	config->burst_period = (ULong)VG_(strtoll10)(o->burst, &end);
	config->burst_length = (ULong)VG_(strtoll10)(*end == '/' ? end + 1 : end, &end);
}

static void start(void)
{
	struct slope_config config = { 0 };
	Int cell = tool.options.cell_bytes;

	if ((cell & (cell - 1)) != 0 || !tool.options.out)
		VG_(fmsg_bad_option)("--cell/--slope-out", "a cell is a power of two, and an output file is needed\n");
	choose_units(tool.options.cost);
	config.metrics = choose_metrics(tool.options.input);
	config.units = tool.units;
	config.max_points = (UInt)tool.options.max_points;
	config.stamp_limit = (UInt)tool.options.stamp_limit;
	config.toggled = tool.options.toggle != NULL;
	choose_contexts(&config);
	tool.plain = config.units == 1 && !config.toggled;
	tool.log_lanes = closing_lanes(tool.options.access_by_call ? 0 : tool.options.narrow ? 8 : 16);
	while (1 << config.cell_log2 < cell)
		config.cell_log2++;
	config.marked = config.cell_log2 == 2;
	tool.inlined = !tool.options.access_by_call;
	tool.host = (struct slope_host){ .pages = tool_pages, .release = tool_release };
	tool.thread = VG_(calloc)("slope.threads", VG_N_THREADS, sizeof *tool.thread);
	if (!slope_session_init(&tool.session, &config, &tool.host))
		VG_(tool_panic)("no memory for the first page");
	tool.session.each_window_word = tool_each_window_word;
	tool.running = True;
	if (!tool.options.main_pid)
		tool.options.main_pid = VG_(getpid)();
}

/* Valgrind's own exit code says nothing of the program's. */
static void finish(Int valgrind_exit_code)
{
	tool_end_all_threads();
	tool_write_profile(tool.exit_code, tool.exit_code < 0 ? "signal" : "exit");
}

/* The text may be wrong, or run into memory that is not there. */
static void name_thread(struct slope_thread *core, Addr text)
{
	UInt i = 0;

	for (; i < sizeof core->name - 1 && VG_(am_is_valid_for_client)(text + i, 1, VKI_PROT_READ); i++) {
		core->name[i] = ((const HChar *)text)[i];
		if (!core->name[i])
			return;
	}
	core->name[i] = 0;
}

static Bool take_request(ThreadId tid, UWord *args, UWord *ret)
{
	*ret = 0;
	switch (args[0]) {
	case SLOPE_REQUEST_START:
	case SLOPE_REQUEST_STOP:
		slope_session_collect(&tool.session, args[0] == SLOPE_REQUEST_START);
		return True;
	case SLOPE_REQUEST_NAME_THREAD:
		name_thread(tool.thread[tid].fiber->core, args[1]);
		return True;
	case SLOPE_REQUEST_RUNNING:
		*ret = 1;
		return True;
	default:
		return False;
	}
}

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

static Bool changes_rights(UInt number)
{
	return number == __NR_setuid || number == __NR_setreuid || number == __NR_setresuid || number == __NR_setfsuid ||
	       number == __NR_capset || number == __NR_chroot || number == __NR_pivot_root;
}

/*
 * Valgrind reports the word of every futex call as written; waiting, waking and
 * requeueing do not write it. It reports the place for a new process's id as
 * written in the parent; the kernel writes it in the child alone.
 */
static Addr unwritten_by(UInt number, const UWord *args)
{
	if (number == __NR_clone)
		return args[0] & VKI_CLONE_CHILD_SETTID && !(args[0] & VKI_CLONE_VM) ? args[3] : 0;
	if (number != __NR_futex)
		return 0;
	switch (args[1] & ~(UWord)(VKI_FUTEX_PRIVATE_FLAG | VKI_FUTEX_CLOCK_REALTIME)) {
	case VKI_FUTEX_WAIT:
	case VKI_FUTEX_WAKE:
	case VKI_FUTEX_REQUEUE:
	case VKI_FUTEX_CMP_REQUEUE:
	case VKI_FUTEX_WAIT_BITSET:
	case VKI_FUTEX_WAKE_BITSET:
		return args[0];
	default:
		return 0;
	}
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt count)
{
	tool.thread[tid].unwritten = unwritten_by(number, args);
	if (is_exec(number))
		tool_before_exec();
	else if (changes_rights(number))
		tool_keep_open();
	else if (number == __NR_exit_group || (number == __NR_exit && tool_only_thread(tid)))
		tool.exit_code = (Int)(args[0] & 0xff);
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
	if (is_exec(number))
		tool_after_failed_exec();
}

static void before_start(void)
{
	VG_(details_name)("slope");
	VG_(details_version)(SLOPE_VERSION);
	VG_(details_description)("how does the cost of each function grow with its input?");
	VG_(details_copyright_author)("GPL-3.0-or-later");
	VG_(details_bug_reports_to)("slope's issue tracker");
	VG_(details_avg_translation_sizeB)(400);
	VG_(basic_tool_funcs)(start, tool_instrument, finish);
	VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(take_request);
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
	VG_(track_start_client_code)(tool_code_starts);
	VG_(track_stop_client_code)(tool_code_stops);
	VG_(track_pre_thread_ll_create)(tool_thread_created);
	VG_(track_pre_thread_first_insn)(tool_thread_began);
	VG_(track_pre_thread_ll_exit)(tool_thread_exits);
	VG_(track_pre_deliver_signal)(tool_before_signal);
	VG_(track_post_deliver_signal)(tool_after_signal);
	VG_(atfork)(NULL, NULL, tool_fork_child);
	tool_watch_memory();
	/* Function entries must not hide inside blocks. */
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
}

VG_DETERMINE_INTERFACE_VERSION(before_start)
