/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/remotewalk.h"

#include <errno.h>
#include <string.h>

#define STACK_POINTER 7u
#define PLACE 16u

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct slope_remotewalk *w = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = w;
	return w->sample ? w->sample->tid : w->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

/* What lies on the stack; other memory is not needed to unwind what compilers make. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	const struct slope_remotewalk *w = arg;
	uint64_t low = w->sample->reg[STACK_POINTER];

	(void)dwfl;
	if (address < low || w->sample->stack_bytes < sizeof *result || address - low > w->sample->stack_bytes - sizeof *result)
		return false;
	memcpy(result, w->sample->stack + (address - low), sizeof *result);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct slope_remotewalk *w = arg;
	Dwarf_Word reg[SLOPE_REMOTE_REGISTERS];

	for (unsigned i = 0; i < SLOPE_REMOTE_REGISTERS; i++)
		reg[i] = w->sample->reg[i];
	return dwfl_thread_state_registers(thread, 0, SLOPE_REMOTE_REGISTERS, reg);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = read_memory, .set_initial_registers = set_registers,
};

/* Unwind tables are in the files themselves; names come later, as for every profile. */
static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
			 GElf_Word crc, char **path)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)path;
	return -1;
}

bool slope_remotewalk_modules(struct slope_remotewalk *w, pid_t pid)
{
	w->pid = pid;
	w->callbacks = (Dwfl_Callbacks){ .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = no_debug_file };
	Dwfl *fresh = dwfl_begin(&w->callbacks);
	int error = fresh ? dwfl_linux_proc_report(fresh, pid) : ENOMEM;

	if (error != 0 || dwfl_report_end(fresh, NULL, NULL) != 0 || !dwfl_attach_state(fresh, NULL, pid, &thread_callbacks, w)) {
		if (fresh)
			dwfl_end(fresh);
		errno = error > 0 ? error : ENOMEM;
		return false;
	}
	slope_remotewalk_fini(w);
	w->dwfl = fresh;
	return true;
}

void slope_remotewalk_fini(struct slope_remotewalk *w)
{
	if (w->dwfl)
		dwfl_end(w->dwfl);
	w->dwfl = NULL;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct slope_remotewalk *w = arg;
	Dwarf_Addr pc;
	bool activation = false;

	if (w->count == SLOPE_REMOTE_DEPTH)
		return DWARF_CB_ABORT;
	if (!dwfl_frame_pc(frame, &pc, &activation) || !pc)
		return w->count ? DWARF_CB_ABORT : DWARF_CB_OK;
	w->address[w->count] = pc - (activation || !w->count ? 0 : 1);
	w->count++;
	return DWARF_CB_OK;
}

void slope_remotewalk_sample(struct slope_remotewalk *w, const struct slope_remote_sample *sample)
{
	w->sample = sample;
	w->count = 0;
	w->whole = w->dwfl && dwfl_getthread_frames(w->dwfl, sample->tid, take_frame, w) == 0;
	if (!w->count && sample->in_user)
		w->address[w->count++] = sample->reg[PLACE];
	w->sample = NULL;
}
