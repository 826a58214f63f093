/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random functions of real instructions: arithmetic in all widths with
 * registers and memory at odd addresses, flags that live over branches and
 * calls, loops, indirect jumps, pushes, vectors. What they compute depends on the seed alone.
 * After instructions that leave flags undefined comes one that defines them.
 * Operands are relative to a register or to rip. With a second argument the memory becomes code only after it has been
 * written, wherever it lies.
 */
#include "torture.h"

#include <sys/mman.h>

#define FUNCTIONS 60
#define FUNCTION_BYTES 4096
#define AREA_BYTES 8192
#define LEAVES 6

/* rbp is the area, r12 an index or a counter, rsp the stack: all others are free. */
static const unsigned char pool[] = { 0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 13, 14, 15 };

static uint64_t seed;
static unsigned char *code, *area;

static unsigned below(unsigned n)
{
	return (unsigned)(torture_random(&seed) % n);
}

static void byte(unsigned value)
{
	*code++ = (unsigned char)value;
}

static void word32(uint32_t value)
{
	memcpy(code, &value, 4);
	code += 4;
}

static unsigned reg(void)
{
	return pool[below(sizeof pool)];
}

/* Prefixes for a width of 8, 16, 32 or 64 bits; `r` is in ModRM's reg, `b` its rm, `x` an index. */
static void prefixes(unsigned width, unsigned r, unsigned x, unsigned b)
{
	if (width == 1)
		byte(0x66);
	byte(0x40 | (width == 3) << 3 | (r >> 3) << 2 | (x >> 3) << 1 | b >> 3);
}

static void registers(unsigned r, unsigned b)
{
	byte(0xc0 | (r & 7) << 3 | (b & 7));
}

/* disp32(%rbp) or the same place relative to rip, or disp32(%rbp, %r12, 4) if `indexed`. */
static void memory(unsigned r, unsigned indexed)
{
	if (!indexed && below(3) == 0) {
		byte(0x05 | (r & 7) << 3);
		word32((uint32_t)(area + below(AREA_BYTES - 600) - (code + 4)));
		return;
	}
	byte(0x80 | (r & 7) << 3 | (indexed ? 4 : 5));
	if (indexed)
		byte(0x80 | 4 << 3 | 5);
	word32(below(AREA_BYTES - 600));
}

static void arithmetic(void)
{
	static const unsigned op[] = { 0x00, 0x08, 0x10, 0x18, 0x20, 0x28, 0x30, 0x38 };
	unsigned width = below(4), which = op[below(8)] | (width ? 1 : 0), r = reg(), b = reg(), indexed = below(3) == 0;

	switch (below(4)) {
	case 0:
		prefixes(width, r, 0, b);
		byte(which);
		registers(r, b);
		break;
	case 1:                          /* memory is the target, or the source */
	case 2:
		if (indexed) {
			prefixes(2, 0, 0, 12);
			byte(0xb8 | 4);
			word32(below(128));
		}
		prefixes(width, r, indexed ? 12 : 0, 5);
		byte(which | below(2) << 1);
		memory(r, indexed);
		break;
	default:
		prefixes(3, 0, 0, b);
		byte(0x81);
		registers(which >> 3, b);
		word32((uint32_t)torture_random(&seed));
		break;
	}
}

static void compare(void)
{
	unsigned r = reg(), b = reg();

	prefixes(3, r, 0, b);
	byte(0x39);
	registers(r, b);
}

static void condition(void)
{
	unsigned r = reg(), b = reg();

	if (below(2)) {
		prefixes(2, 0, 0, b);
		byte(0x0f);
		byte(0x90 | below(16));
		registers(0, b);
	} else {
		prefixes(3, r, 0, b);
		byte(0x0f);
		byte(0x40 | below(16));
		registers(r, b);
	}
}

static void moves(void)
{
	unsigned r = reg(), b = reg(), width = below(4);

	switch (below(5)) {
	case 0:
		prefixes(3, r, 0, b);
		byte(0x0f);
		byte((unsigned[]){ 0xb6, 0xb7, 0xbe, 0xbf }[below(4)]);
		registers(r, b);
		break;
	case 1:
		prefixes(3, r, 0, 5);
		byte(0x0f);
		byte((unsigned[]){ 0xb6, 0xb7, 0xbe, 0xbf }[below(4)]);
		memory(r, 0);
		break;
	case 2:                          /* lea 5(b, b, 4), r, but for the bases that need a byte more */
		b = b == 13 ? 0 : b;
		prefixes(3, r, b, b);
		byte(0x8d);
		byte(0x44 | (r & 7) << 3);
		byte(0x80 | (b & 7) << 3 | (b & 7));
		byte(5);
		break;
	default:
		prefixes(width, r, 0, 5);
		byte(0x88 | (width ? 1 : 0) | below(2) << 1);
		memory(r, 0);
		break;
	}
}

static void single(void)
{
	unsigned b = reg(), r = reg();

	switch (below(6)) {
	case 0:                          /* inc, dec: the carry stays */
		prefixes(3, 0, 0, b);
		byte(0xff);
		registers(below(2), b);
		break;
	case 1:                          /* not, neg */
		prefixes(3, 0, 0, b);
		byte(0xf7);
		registers(2 + below(2), b);
		break;
	case 2:                          /* a shift, a rotation */
		prefixes(3, 0, 0, b);
		byte(0xc1);
		registers((unsigned[]){ 0, 1, 4, 5, 7 }[below(5)], b);
		byte(1 + below(30));
		compare();
		break;
	case 3:
		prefixes(3, r, 0, b);
		byte(0x0f);
		byte(0xaf);
		registers(r, b);
		compare();
		break;
	case 4:                          /* xadd, cmpxchg, with lock */
		byte(0xf0);
		prefixes(3, r, 0, 5);
		byte(0x0f);
		byte(below(2) ? 0xc1 : 0xb1);
		memory(r, 0);
		break;
	default:                         /* push, pop */
		prefixes(2, 0, 0, b);
		byte(0x50 | (b & 7));
		condition();
		prefixes(2, 0, 0, r);
		byte(0x58 | (r & 7));
		break;
	}
}

static void vector(void)
{
	unsigned x = below(16), y = below(16);

	byte(below(2) ? 0xf3 : 0x66);
	prefixes(2, x, 0, 5);
	byte(0x0f);
	if (code[-3] == 0xf3) {          /* movdqu from and to memory */
		byte(below(2) ? 0x6f : 0x7f);
		memory(x, 0);
	} else {                         /* paddd, pxor: aligned, so between registers */
		code[-2] = (unsigned char)(0x40 | (x >> 3) << 2 | y >> 3);
		byte(below(2) ? 0xfe : 0xef);
		registers(x, y);
	}
}

static void plain(void)
{
	switch (below(8)) {
	case 0:
		condition();
		break;
	case 1:
		moves();
		break;
	case 2:
		single();
		break;
	case 3:
		vector();
		break;
	default:
		arithmetic();
		break;
	}
}

static void patch(unsigned char *displacement)
{
	int32_t distance = (int32_t)(code - (displacement + 4));

	memcpy(displacement, &distance, 4);
}

static void forward_branch(void)
{
	unsigned char *displacement;

	if (below(4)) {
		byte(0x0f);
		byte(0x80 | below(16));
	} else {                         /* lea target(%rip), %r12; jmp *%r12 */
		byte(0x4c);
		byte(0x8d);
		byte(0x25);
	}
	displacement = code;
	word32(0);
	if (displacement[-1] == 0x25) {
		byte(0x41);
		byte(0xff);
		byte(0xe4);
	}
	for (unsigned n = below(5); n; n--)
		plain();
	patch(displacement);
}

/* mov $n, %r12d; ... dec %r12; jnz: the flags of dec reach the next round. */
static void loop(void)
{
	unsigned char *again;

	byte(0x41);
	byte(0xbc);
	word32(1 + below(9));
	again = code;
	for (unsigned n = 1 + below(4); n; n--) {
		condition();
		single();
	}
	byte(0x49);
	byte(0xff);
	byte(0xcc);
	byte(0x0f);
	byte(0x85);
	word32((uint32_t)(again - (code + 4)));
}

static void call(const unsigned char *leaf)
{
	byte(0xe8);
	word32((uint32_t)(leaf - (code + 4)));
}

static void function(unsigned char *const *leaf)
{
	for (unsigned n = 10 + below(60); n; n--) {
		switch (below(12)) {
		case 0:
			forward_branch();
			break;
		case 1:
			loop();
			break;
		case 2:
			if (leaf)
				call(leaf[below(LEAVES)]);
			break;
		default:
			plain();
			break;
		}
	}
	byte(0xc3);
}

struct registers {
	uint64_t reg[16], flags;
};

/* Loads all registers, calls, stores all of them and the flags. */
static void run(const void *f, struct registers *r)
{
	__asm__ volatile(
		"sub $128, %%rsp; push %%rbp; push %%rbx; push %0; push %1; mov %2, %%rbp; mov %0, %%r12; "
		"push %%r12; push %1\n"
		"mov 0(%%r12), %%rax; mov 8(%%r12), %%rcx; mov 16(%%r12), %%rdx; mov 24(%%r12), %%rbx; "
		"mov 48(%%r12), %%rsi\n"
		"mov 56(%%r12), %%rdi; mov 64(%%r12), %%r8; mov 72(%%r12), %%r9; mov 80(%%r12), %%r10; "
		"mov 88(%%r12), %%r11\n"
		"mov 104(%%r12), %%r13; mov 112(%%r12), %%r14; mov 120(%%r12), %%r15; xor %%r12d, %%r12d\n"
		"call *(%%rsp)\n"
		"pushfq; pop %%r12; lea 8(%%rsp), %%rsp; xchg %%r12, (%%rsp); mov %%rax, 0(%%r12); "
		"pop %%rax; mov %%rax, 128(%%r12)\n"
		"mov %%rcx, 8(%%r12); mov %%rdx, 16(%%r12); mov %%rbx, 24(%%r12); mov %%rsi, 48(%%r12); "
		"mov %%rdi, 56(%%r12)\n"
		"mov %%r8, 64(%%r12); mov %%r9, 72(%%r12); mov %%r10, 80(%%r12); mov %%r11, 88(%%r12); "
		"mov %%r13, 104(%%r12)\n"
		"mov %%r14, 112(%%r12); mov %%r15, 120(%%r12); pop %1; pop %0; pop %%rbx; pop %%rbp; sub $-128, %%rsp"
		: : "D"(r), "S"(f), "a"(area)
		: "rcx"
		, "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2",
		"xmm3"
		, "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	r->flags &= 0x8c5;               /* without AF and the processor's own */
}

int main(int argc, char **argv)
{
	const size_t bytes = (FUNCTIONS + LEAVES) * FUNCTION_BYTES;
	unsigned char *pages = mmap(NULL, bytes + AREA_BYTES, PROT_READ | PROT_WRITE | (argc > 2 ? 0 : PROT_EXEC),
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *leaf[LEAVES];
	struct registers r = { 0 };
	uint64_t hash = 1;

	seed = torture_seed(argc, argv);
	EXPECT(pages != MAP_FAILED);
	area = pages + bytes;
	for (unsigned i = 0; i < FUNCTIONS + LEAVES; i++) {
		code = pages + i * FUNCTION_BYTES;
		if (i < LEAVES)
			leaf[i] = code;
		function(i < LEAVES ? NULL : leaf);
		EXPECT(code < pages + (i + 1) * FUNCTION_BYTES);
	}
	EXPECT(mprotect(pages, bytes, PROT_READ | PROT_EXEC) == 0);
	for (int i = 0; i < AREA_BYTES; i++)
		area[i] = (unsigned char)torture_random(&seed);
	for (unsigned i = 0; i < FUNCTIONS * 20; i++) {
		__asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15; pxor %%xmm\\n, %%xmm\\n; "
				 ".endr" : : : "xmm0");
		run(pages + (LEAVES + i % FUNCTIONS) * FUNCTION_BYTES, &r);
		hash = torture_hash(hash, &r, sizeof r);
		if (i % FUNCTIONS == FUNCTIONS - 1)
			printf("%lx\n", hash = torture_hash(hash, area, AREA_BYTES));
	}
	return 0;
}
