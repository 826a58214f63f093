/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk. Memory of the thread's own stack, above its stack pointer, is
 * there; other memory is asked for page by page, by a system call that fails
 * where it is not (a wrong guess must not crash the program).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "sources/sampler/trampolines.h"

#define WALKED_FIRST 64u
#define WALKED_MAX 4000000u
#define NO_PAGE 1u               /* no page begins there */
#define UCONTEXT_GREGS 40u       /* of the kernel's ucontext on the stack: where its registers are */

struct walk {
	struct slope_sampled *t;
	uint64_t ip, reg[SLOPE_REGS];
	uint64_t low;                /* the stack pointer at the beginning, if that is in the own stack; else the end of it */
	uint64_t page;               /* another page that is there; NO_PAGE: none is known */
	bool exact;                  /* ip is where the thread is, not where a call returns to */
};

/* The kernel reads the word for us: another error than EFAULT says that it could. (It does not look at address 0, and succeeds.) */
static bool is_there(struct walk *w, uint64_t address)
{
	uint64_t page = address & ~(uint64_t)(SLOPE_PAGE_BYTES - 1);

	if (page == w->page)
		return true;
	if (syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) == 0 || errno == EFAULT)
		return false;
	w->page = page;
	return true;
}

static bool read_word(struct walk *w, uint64_t address, uint64_t *word)
{
	if (address % sizeof *word)
		return false;
	if ((address < w->low || address >= w->t->stack_high) && !is_there(w, address))
		return false;
	*word = *(const uint64_t *)(uintptr_t)address;
	return true;
}

/* Registers in the order of unwind tables. */
static const uint8_t greg_of[SLOPE_REGS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static void start(struct walk *w, struct slope_sampled *t, const ucontext_t *context)
{
	w->t = t;
	w->ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	for (unsigned i = 0; i < SLOPE_REGS; i++)
		w->reg[i] = (uint64_t)context->uc_mcontext.gregs[greg_of[i]];
	uint64_t sp = w->reg[SLOPE_REG_RSP];

	w->low = sp >= t->stack_low && sp < t->stack_high ? sp : t->stack_high;
	w->page = NO_PAGE;
	w->exact = true;
}

/* The frame that the kernel made for a handler of the program: all registers are there. */
static bool step_signal(struct walk *w)
{
	uint64_t at = w->reg[SLOPE_REG_RSP] + UCONTEXT_GREGS, reg[SLOPE_REGS];

	for (unsigned i = 0; i < SLOPE_REGS; i++)
		if (!read_word(w, at + greg_of[i] * 8u, &reg[i]))
			return false;
	if (!read_word(w, at + REG_RIP * 8u, &w->ip))
		return false;
	for (unsigned i = 0; i < SLOPE_REGS; i++)
		w->reg[i] = reg[i];
	w->exact = true;
	return true;
}

static bool restore_saved(struct walk *w, const struct slope_recipe *recipe, uint64_t cfa)
{
	uint64_t rbp = w->reg[SLOPE_REG_RBP];

	for (unsigned i = 0; i < SLOPE_RECIPE_SAVED; i++) {
		uint8_t save = recipe->save[i];
		uint64_t at = save >= SLOPE_SAVE_RBP ? rbp - 8u * (save - SLOPE_SAVE_RBP) : cfa - 8u * save;

		if (save != SLOPE_SAVE_SAME && !read_word(w, at, &w->reg[slope_recipe_register(i)]))
			return false;
	}
	return true;
}

static bool find_cfa(struct walk *w, const struct slope_recipe *recipe, uint64_t *cfa)
{
	uint64_t at = w->reg[recipe->base] + (uint64_t)(int64_t)recipe->offset;

	if (recipe->kind == SLOPE_RECIPE_FRAME)
		*cfa = at;
	else if (recipe->kind != SLOPE_RECIPE_DEREF || !read_word(w, at, cfa))
		return false;
	return *cfa > w->reg[SLOPE_REG_RSP] && *cfa % 8 == 0;
}

/*
 * Code without an unwind table, such as a program makes at run time: if it
 * keeps a frame pointer, that is where the caller is. Believed only when what
 * lies there is a return address behind a call.
 */
static bool guess_by_frame_pointer(struct walk *w, struct slope_recipe *recipe)
{
	uint64_t rbp = w->reg[SLOPE_REG_RBP], ra;
	struct slope_recipe caller;

	if (rbp < w->reg[SLOPE_REG_RSP] || rbp % 8 || !read_word(w, rbp + 8, &ra) || slope_trampoline_covers(ra))
		return false;
	slope_codemap_find(ra, false, &caller, &w->t->scratch);
	if (!caller.after_call)
		return false;
	*recipe = (struct slope_recipe){ .kind = SLOPE_RECIPE_FRAME, .base = SLOPE_REG_RBP, .offset = 16, .keep_off = true,
					 .code = recipe->code, .save = { [1] = 2 } };
	return true;
}

/* Room for one more. */
static struct slope_walked *add(struct slope_sampled *t)
{
	void *walked = t->walked;

	if (t->walked_count == t->walked_capacity &&
	    (t->walked_count >= WALKED_MAX ||
	     !slope_arena_grow(&t->arena, &walked, &t->walked_capacity, t->walked_count ? 2 * t->walked_count : WALKED_FIRST,
			       sizeof *t->walked)))
		return NULL;
	t->walked = walked;
	return &t->walked[t->walked_count++];
}

/* The trampoline of this thread, where it was put? */
static bool is_joint(const struct slope_sampled *t, const uint64_t *slot, uint32_t stub)
{
	return t->placed && t->stub == stub && t->kept[t->kept_count - 1].slot == slot;
}

/* One activation: notes it, and goes to its caller. True as long as there is one. */
static bool step(struct walk *w, enum slope_walk_end *end)
{
	struct slope_sampled *t = w->t;
	struct slope_recipe recipe;
	uint64_t cfa, ra;

	*end = SLOPE_WALK_UNSAFE;
	if (slope_trampoline_covers(w->ip))
		return false;
	slope_codemap_find(w->ip, w->exact, &recipe, &t->scratch);
	if (t->walked_count)
		t->walked[t->walked_count - 1].safe &= recipe.after_call && !recipe.unwinder;
	t->frozen |= recipe.unwinder;
	*end = SLOPE_WALK_BROKEN;
	if (recipe.kind == SLOPE_RECIPE_SIGNAL)
		return step_signal(w);
	struct slope_walked *f = add(t);

	if (!f)
		return false;
	*f = (struct slope_walked){ .place = recipe.after_call ? w->ip - 1 : w->ip, .code = recipe.code };
	*end = SLOPE_WALK_WHOLE;
	if (recipe.kind == SLOPE_RECIPE_END)
		return false;
	*end = SLOPE_WALK_BROKEN;
	if (recipe.kind == SLOPE_RECIPE_NONE && !guess_by_frame_pointer(w, &recipe)) {
		t->walked_count -= !w->exact && !recipe.after_call;      /* no call returns there: it is nothing */
		return false;
	}
	if (!find_cfa(w, &recipe, &cfa) || !read_word(w, cfa - 8, &ra))
		return false;
	f->slot = (uint64_t *)(uintptr_t)(cfa - 8);
	f->safe = !recipe.keep_off && recipe.kind != SLOPE_RECIPE_NONE;
	uint32_t stub = slope_trampoline_stub(ra);

	f->ra = ra;
	if (stub) {
		f->ra = slope_stub_target[stub];
		f->safe = is_joint(t, f->slot, stub) && f->safe;
		*end = SLOPE_WALK_JOINED;
		if (is_joint(t, f->slot, stub)) {
			t->walked_count -= recipe.own;   /* in place of the one that is kept, by a tail call */
			return false;
		}
	} else if (recipe.own) {
		t->walked_count--;       /* none of the program's */
	}
	*end = ra ? SLOPE_WALK_BROKEN : SLOPE_WALK_WHOLE;
	if (!ra || !restore_saved(w, &recipe, cfa))
		return false;
	w->ip = f->ra;
	w->reg[SLOPE_REG_RSP] = cfa;
	w->exact = false;
	return true;
}

enum slope_walk_end slope_stackwalk(struct slope_sampled *t, const ucontext_t *context)
{
	struct walk w;
	enum slope_walk_end end;

	t->walked_count = 0;
	t->frozen = false;
	start(&w, t, context);
	while (step(&w, &end))
		;
	return end;
}
