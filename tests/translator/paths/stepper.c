/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program in single steps and writes down where it went: an oracle that
 * shares nothing with the translator, not even a decoder.
 *
 * usage: stepper TRACE MODULES PROGRAM [ARGUMENT...]
 *
 * The program finds what it finds under the translator, so that both do the
 * same: no vdso and no restartable sequences in its auxiliary vector, system
 * calls that the translator does not know fail, and the first stack lies as
 * there. All its threads are stepped, each as it comes; children are not.
 * Exit status: the program's.
 */
#define _GNU_SOURCE
#include "stepper.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u
#define CODE_PAGES 4096u             /* of the table of copied code, direct-mapped */
#define BUFFERED 65536u
#define MAX_REGIONS 4096u
#define MAX_MODULES 1024u
#define MAX_THREADS 256u
#define AUX_RSEQ_SIZE 27
#define AUX_RSEQ_ALIGN 28
#define NO_SUCH_CALL 100000

struct region {
	uint64_t start, end, bias;
	uint32_t module;
};

struct code_page {
	uint64_t address;            /* 1 + page, 0: empty */
	uint8_t bytes[PAGE + 16];
};

struct thread {
	pid_t tid;
	bool injected;               /* a signal was delivered with the last step */
	bool returns;                /* the last step was rt_sigreturn */
	struct step step;            /* the instruction that is being stepped */
	bool stepping;
	bool plain;                  /* neither a system call nor a trap */
	uint64_t repeats_at;         /* the last step was one of a repeated instruction there, whose count was not zero */
	uint8_t repeats_until;       /* 0: counts only; else the prefix of one that compares as well */
	uint64_t pc;
};

static struct {
	pid_t pid;
	FILE *trace, *names;
	struct region region[MAX_REGIONS];
	size_t regions;
	char *module[MAX_MODULES];
	size_t modules;
	struct thread thread[MAX_THREADS];
	size_t threads, current;
	bool stale;                  /* mappings may have changed */
	struct code_page *page;
} stepper;

static void fail(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	if (stepper.pid)
		kill(stepper.pid, SIGKILL);
	exit(125);
}

static void write_step(uint64_t place, uint64_t sp)
{
	struct step step = { place, sp };

	if (fwrite(&step, sizeof step, 1, stepper.trace) != 1)
		fail("trace");
}

/* ---- modules ---- */

/* The number of a module, by its path. */
static uint32_t module_number(const char *path)
{
	for (size_t i = 0; i < stepper.modules; i++)
		if (!strcmp(stepper.module[i], path))
			return (uint32_t)i;
	if (stepper.modules == MAX_MODULES) {
		errno = ENOSPC;
		fail("modules");
	}
	stepper.module[stepper.modules] = strdup(path);
	fprintf(stepper.names, "%s\n", path);
	return (uint32_t)stepper.modules++;
}

/* What to take away from a file's place and the address of its mapping: where the segment says it is. */
static uint64_t segment_bias(const char *path, uint64_t start, uint64_t offset)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	FILE *file = fopen(path, "rb");
	uint64_t bias = 0;

	if (!file)
		return 0;
	if (fread(&header, sizeof header, 1, file) == 1 && !memcmp(header.e_ident, ELFMAG, SELFMAG)) {
		for (unsigned i = 0; i < header.e_phnum; i++) {
			fseek(file, (long)(header.e_phoff + i * sizeof segment), SEEK_SET);
			if (fread(&segment, sizeof segment, 1, file) != 1)
				break;
			if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && offset + PAGE > segment.p_offset
			    && offset < segment.p_offset + segment.p_filesz)
				bias = start - offset - segment.p_vaddr + segment.p_offset;
		}
	}
	fclose(file);
	return bias;
}

static void read_regions(void)
{
	char name[64], line[4400], path[4200], mode[8];
	unsigned long start, end, offset;

	snprintf(name, sizeof name, "/proc/%d/maps", stepper.pid);
	FILE *maps = fopen(name, "r");

	if (!maps)
		fail(name);
	stepper.regions = 0;
	while (fgets(line, sizeof line, maps)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4199[^\n]", &start, &end, mode, &offset, path) < 4 || mode[2] != 'x')
			continue;
		if (stepper.regions == MAX_REGIONS)
			break;
		stepper.region[stepper.regions++] = (struct region){
			start, end, path[0] == '/' ? segment_bias(path, start, offset) : 0,
			module_number(path[0] == '/' ? path : "[none]"),
		};
	}
	fclose(maps);
	stepper.stale = false;
	for (size_t i = 0; i < CODE_PAGES; i++)
		stepper.page[i].address = 0;
}

static const struct region *region_of(uint64_t pc)
{
	static const struct region *last;

	if (!stepper.stale && last && pc >= last->start && pc < last->end)
		return last;
	for (int again = 0; again < 2; again++) {
		if (stepper.stale || again)
			read_regions();
		for (size_t i = 0; i < stepper.regions; i++)
			if (pc >= stepper.region[i].start && pc < stepper.region[i].end)
				return last = &stepper.region[i];
	}
	last = NULL;
	return NULL;
}

/* Sixteen bytes of code; what is not there is zero. */
static const uint8_t *code_at(uint64_t pc)
{
	struct code_page *page = &stepper.page[pc / PAGE % CODE_PAGES];

	if (page->address != 1 + pc / PAGE) {
		struct iovec to = { page->bytes, PAGE + 16 }, from = { (void *)(pc / PAGE * PAGE), PAGE + 16 };

		memset(page->bytes, 0, sizeof page->bytes);
		if (process_vm_readv(stepper.pid, &to, 1, &from, 1, 0) < 0) {
			to.iov_len = from.iov_len = PAGE;
			process_vm_readv(stepper.pid, &to, 1, &from, 1, 0);
		}
		page->address = 1 + pc / PAGE;
	}
	return page->bytes + pc % PAGE;
}

/* The prefix of a string instruction that repeats itself, 0 for others; `*compares`: does it end by a comparison? */
static uint8_t repeats(const uint8_t *code, bool *compares)
{
	uint8_t prefix = 0;
	unsigned i = 0;

	for (; i < 8 && (code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x66 || code[i] == 0x67); i++)
		if (code[i] >= 0xf2)
			prefix = code[i];
	if ((code[i] & 0xf0) == 0x40)
		i++;
	*compares = code[i] == 0xa6 || code[i] == 0xa7 || code[i] == 0xae || code[i] == 0xaf;
	return (code[i] >= 0xa4 && code[i] <= 0xa7) || (code[i] >= 0xaa && code[i] <= 0xaf) || (code[i] >= 0x6c && code[i] <= 0x6f)
		? prefix : 0;
}

/* ---- what the program finds ---- */

static uint64_t peek(uint64_t address)
{
	errno = 0;
	uint64_t word = (uint64_t)ptrace(PTRACE_PEEKDATA, stepper.pid, address, 0);

	if (errno)
		fail("reading the stack");
	return word;
}

static void poke(uint64_t address, uint64_t word)
{
	if (ptrace(PTRACE_POKEDATA, stepper.pid, address, word))
		fail("writing the stack");
}

static size_t text_bytes(uint64_t address)
{
	size_t n = 0;

	for (;; n++) {
		uint64_t word = peek((address + n) & ~7ul);

		if (!(word >> 8 * ((address + n) & 7) & 0xff))
			return n + 1;
	}
}

static void copy_text(uint64_t to, uint64_t from, size_t bytes)
{
	char text[bytes];
	struct iovec here = { text, bytes }, there = { (void *)from, bytes };

	if (process_vm_readv(stepper.pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		fail("reading the stack");
	there.iov_base = (void *)to;
	if (process_vm_writev(stepper.pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		fail("writing the stack");
}

/*
 * The first stack, laid out anew below the kernel's: how texts are aligned
 * decides what string functions do. docs/translator.md says how it lies.
 */
static void lay_out_stack(void)
{
	struct user_regs_struct registers;
	uint64_t word[8192], old, argc;
	size_t words, texts = 0, strings, n;

	ptrace(PTRACE_GETREGS, stepper.pid, 0, &registers);
	old = registers.rsp;
	argc = peek(old);
	for (words = 0, n = 0; n < 2; words++) {
		word[words] = peek(old + 8 * words);
		if (words && words > argc && !word[words])
			n++;
		if (words && word[words])
			texts += text_bytes(word[words]);
		if (words > 6000)
			fail("too many arguments");
	}
	strings = words;
	do {
		word[words] = peek(old + 8 * words);
		word[words + 1] = peek(old + 8 * words + 8);
		if (word[words] == AT_SYSINFO_EHDR || word[words] == AUX_RSEQ_SIZE || word[words] == AUX_RSEQ_ALIGN)
			word[words] = AT_IGNORE;
		texts += word[words] == AT_RANDOM ? 16 : word[words] == AT_PLATFORM || word[words] == AT_EXECFN
			? text_bytes(word[words + 1]) : 0;
		words += 2;
	} while (word[words - 2] != AT_NULL);

	uint64_t end = (old - 65536) & ~(uint64_t)(PAGE - 1), at = end - 1 - ((texts + 3) & ~3ul);
	uint64_t sp = (end - 1 - ((texts + 7) & ~7ul) - words * 8) & ~15ul;

	for (size_t i = 1; i < strings; i++) {
		if (!word[i])
			continue;
		n = text_bytes(word[i]);
		copy_text(at, word[i], n);
		word[i] = at;
		at += n;
	}
	for (size_t i = strings; i < words; i += 2) {
		if (word[i] != AT_RANDOM && word[i] != AT_PLATFORM && word[i] != AT_EXECFN)
			continue;
		n = word[i] == AT_RANDOM ? 16 : text_bytes(word[i + 1]);
		copy_text(at, word[i + 1], n);
		word[i + 1] = at;
		at += n;
	}
	for (size_t i = 0; i < words; i++)
		poke(sp + 8 * i, word[i]);
	registers.rsp = sp;
	ptrace(PTRACE_SETREGS, stepper.pid, 0, &registers);
}

/* Before a system call: those that the translator has not fail, those that change mappings are noted. */
static void prepare_call(struct thread *t, struct user_regs_struct *registers)
{
	switch (registers->rax) {
	case SYS_rseq:
	case SYS_clone3:
	case SYS_io_uring_setup:
	case SYS_userfaultfd:
	case SYS_pkey_alloc:
		registers->rax = NO_SUCH_CALL;
		ptrace(PTRACE_SETREGS, t->tid, 0, registers);
		break;
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
		stepper.stale = true;
		break;
	case SYS_rt_sigreturn:
		t->returns = true;
		break;
	default:
		break;
	}
}

/* ---- steps ---- */

static struct thread *thread_of(pid_t tid)
{
	for (size_t i = 0; i < stepper.threads; i++)
		if (stepper.thread[i].tid == tid)
			return &stepper.thread[i];
	if (stepper.threads == MAX_THREADS)
		fail("threads");
	stepper.thread[stepper.threads] = (struct thread){ .tid = tid };
	return &stepper.thread[stepper.threads++];
}

static void write_for(struct thread *t, uint64_t place, uint64_t sp)
{
	size_t number = (size_t)(t - stepper.thread);

	if (number != stepper.current) {
		stepper.current = number;
		write_step(STEP_EVENT | STEP_THREAD, number);
	}
	write_step(place, sp);
}

/* The instruction has been executed. */
static void commit(struct thread *t)
{
	if (t->stepping)
		write_for(t, t->step.place, t->step.sp);
	if (t->stepping && t->returns)
		write_for(t, STEP_EVENT | STEP_SIGNAL_RETURN, 0);
	t->stepping = t->returns = false;
}

/* A repeated instruction is over, by its count if a comparison has not ended it. */
static void end_repeats(struct thread *t, const struct user_regs_struct *registers)
{
	bool equal = registers->eflags & 0x40, by_comparison = t->repeats_until && equal == (t->repeats_until == 0xf2);

	if (!t->repeats_at || registers->rip == t->repeats_at)
		return;
	if (registers->rip - t->repeats_at < 16 && !by_comparison)
		write_for(t, STEP_EVENT | STEP_COUNTED_OUT, 0);
	t->repeats_at = 0;
}

static void note_repeats(struct thread *t, const uint8_t *code, const struct user_regs_struct *registers)
{
	bool compares;
	uint8_t prefix = repeats(code, &compares);

	if (!prefix)
		return;
	t->step.place |= STEP_REPEATS;
	t->repeats_at = registers->rcx ? registers->rip : 0;
	t->repeats_until = compares ? prefix : 0;
}

static void go_on(struct thread *t, int signal)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, t->tid, 0, &registers))
		return;
	if (!t->injected) {
		const struct region *r = region_of(registers.rip);
		const uint8_t *code = code_at(registers.rip);

		t->pc = registers.rip;
		t->step.place = r ? (uint64_t)r->module << STEP_MODULE_SHIFT | ((registers.rip - r->bias) & STEP_ADDRESS_MASK)
			: (uint64_t)module_number("[none]") << STEP_MODULE_SHIFT | (registers.rip & STEP_ADDRESS_MASK);
		end_repeats(t, &registers);
		note_repeats(t, code, &registers);
		t->step.sp = registers.rsp;
		t->stepping = true;
		t->plain = code[0] != 0xcc && code[0] != 0xcd && code[0] != 0xf1 && code[0] != 0x0f;
		if (code[0] == 0x0f && code[1] == 0x05)
			prepare_call(t, &registers);
	}
	if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, signal) && errno != ESRCH)
		fail("single step");
}

/* A signal is about to be delivered. */
static void take_signal(struct thread *t, int signal)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, t->tid, 0, &registers))
		return;
	if (registers.rip == t->pc)
		t->stepping = t->returns = false;    /* it was not executed: a fault, or a signal that came first */
	commit(t);
	t->injected = true;
	go_on(t, signal);
}

/* SIGTRAP: a step is done, or a handler is about to begin, or one of ptrace's own events. */
static void take_trap(struct thread *t, int status)
{
	siginfo_t info;

	switch (status >> 16) {
	case PTRACE_EVENT_EXEC:
		commit(t);
		write_for(t, STEP_EVENT | STEP_EXEC, 0);
		stepper.stale = true;
		lay_out_stack();
		/* fall through */
	case PTRACE_EVENT_CLONE:
		ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0);     /* the call itself is not over */
		return;
	default:
		break;
	}
	if (!t->injected && t->plain) {      /* as nearly always: an instruction that raises no SIGTRAP of its own */
		commit(t);
		go_on(t, 0);
		return;
	}
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info))
		return;
	if (t->injected) {
		bool handler = info.si_code == SIGTRAP;

		t->injected = false;
		if (handler)
			write_for(t, STEP_EVENT | STEP_SIGNAL, 1);
		else
			commit(t);           /* ignored: the step was an instruction's */
	} else if (info.si_code <= 0 || (info.si_code != TRAP_TRACE && info.si_code != SIGTRAP && info.si_code != TRAP_BRKPT)) {
		take_signal(t, SIGTRAP);     /* the program's own */
		return;
	}
	commit(t);
	go_on(t, 0);
}

static int watch(void)
{
	int status, result = 0;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct thread *t = thread_of(tid);

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			commit(t);
			write_for(t, STEP_EVENT | STEP_THREAD_END, (uint64_t)(t - stepper.thread));
			if (tid == stepper.pid)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			t->tid = -1;
		} else if (WSTOPSIG(status) == SIGTRAP) {
			take_trap(t, status);
		} else if (WSTOPSIG(status) == SIGSTOP && !t->pc) {
			go_on(t, 0);         /* a new thread */
		} else {
			take_signal(t, WSTOPSIG(status));
		}
	}
	return result;
}

int main(int argc, char **argv)
{
	cpu_set_t one;
	int status;

	if (argc < 4) {
		fputs("usage: stepper TRACE MODULES PROGRAM [ARGUMENT...]\n", stderr);
		return 125;
	}
	stepper.page = calloc(CODE_PAGES, sizeof *stepper.page);
	stepper.trace = fopen(argv[1], "wbe");
	stepper.names = fopen(argv[2], "we");
	if (!stepper.page || !stepper.trace || !stepper.names)
		fail("start");
	setvbuf(stepper.trace, NULL, _IOFBF, BUFFERED * sizeof(struct step));
	/* On one processor a step is twice as fast. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	stepper.pid = fork();
	if (!stepper.pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	if (waitpid(stepper.pid, &status, __WALL) != stepper.pid || !WIFSTOPPED(status))
		fail(argv[3]);
	ptrace(PTRACE_SETOPTIONS, stepper.pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC);
	stepper.stale = true;
	lay_out_stack();
	go_on(thread_of(stepper.pid), 0);
	status = watch();
	if (fclose(stepper.trace) || fclose(stepper.names))
		fail("trace");
	return status;
}
