/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jumps by a table, of addresses and of distances: two tables by the same jump, entries that are functions of this program or of the C
 * library, numbers beyond the entries that are alike, flags that live across the jump, and a table that is changed after it was used.
 */
#include "torture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLES_BYTES 65536

static uint64_t seed;

__asm__(".text\n"
	/* rdi: the argument, rsi: the entry's number, rdx: the table */
	".globl by_address, by_register, by_distance, by_sum, with_carry\n"
	".type by_address, @function; by_address: mov %rdi, %rax; jmp *(%rdx,%rsi,8)\n"
	".type by_register, @function; by_register: mov %rdi, %rax; mov (%rdx,%rsi,8), %rcx; lea 1(%rax), %rax; jmp *%rcx\n"
	".type by_distance, @function; by_distance: mov %rdi, %rax; movslq (%rdx,%rsi,4), %rsi; add %rdx, %rsi; jmp *%rsi\n"
	".type by_sum, @function; by_sum: mov %rdi, %rax; lea distances(%rip), %rdx; movslq (%rdx,%rsi,4), %rsi; "
	"add %rsi, %rdx; jmp *%rdx\n"
	".type with_carry, @function; with_carry: mov $0, %eax; cmp %rsi, %rdi; mov $2, %esi; jmp *(%rdx,%rsi,8)\n"
	".type places, @function; places:\n"
	"place_0: add $10, %rax; ret\n"
	"place_1: shl $1, %rax; ret\n"
	"place_2: not %rax; ret\n"
	"place_3: mov %rax, -8(%rsp); cmpq $5, -8(%rsp); jb 1f; sub $5, %rax; 1: ret\n"
	"carried: setc %al; ret\n"
	".globl leaf; .type leaf, @function; leaf: lea 7(%rdi), %rax; ret\n"
	".size leaf, . - leaf\n"
	".section .data.rel.ro, \"aw\", @progbits; .balign 65536\n"
	".globl addresses, others, distances\n"
	"addresses: .quad place_0, place_1, place_2, place_3, leaf, labs, place_1, 0, place_2\n"
	"others: .quad place_3, place_2, carried, place_0, place_1, labs, leaf, 0, place_3\n"
	".balign 65536\n"
	".section .rodata; .balign 4\n"
	"distances: .long place_0 - distances, place_1 - distances, place_2 - distances, place_3 - distances, leaf - distances\n"
	".text\n");
extern uint64_t by_address(uint64_t x, uint64_t n, const void *table), by_register(uint64_t x, uint64_t n, const void *table);
extern uint64_t by_distance(uint64_t x, uint64_t n, const void *table), by_sum(uint64_t x, uint64_t n);
extern uint64_t with_carry(uint64_t a, uint64_t b, const void *table);
extern const void *addresses[9], *others[9];
extern const int32_t distances[5];

/* What the place does with rax, rdi being x. */
static uint64_t meant(const char *place, uint64_t rax, uint64_t x)
{
	switch (*place) {
	case '0': return rax + 10;
	case '1': return rax << 1;
	case '2': return ~rax;
	case '3': return rax < 5 ? rax : rax - 5;
	case 'l': return x + 7;
	default: return (uint64_t)labs((long)x);
	}
}

static void jump(void)
{
	static const char first[] = "0123la1 2", second[] = "32 01al 3";
	uint64_t x = torture_random(&seed) % 3 ? torture_random(&seed) : torture_random(&seed) % 9, n = torture_random(&seed) % 9;

	if (first[n] != ' ') {
		EXPECT(by_address(x, n, addresses) == meant(&first[n], x, x));
		EXPECT(by_register(x, n, addresses) == meant(&first[n], x + 1, x));
	}
	if (second[n] != ' ') {
		EXPECT(by_address(x, n, others) == meant(&second[n], x, x));
		EXPECT(by_register(x, n, others) == meant(&second[n], x + 1, x));
	}
	if (n < 5) {
		EXPECT(by_distance(x, n, distances) == meant(&first[n], x, x));
		EXPECT(by_sum(x, n) == meant(&first[n], x, x));
	}
	EXPECT(with_carry(x, n, others) == (x < n));
}

/* Two entries change places, in memory that nobody could write to before nor can afterwards. */
static void change(void)
{
	const void *kept = addresses[0];

	EXPECT(!mprotect(addresses, TABLES_BYTES, PROT_READ | PROT_WRITE));
	__atomic_store_n(&addresses[0], addresses[1], __ATOMIC_SEQ_CST);
	__atomic_store_n(&addresses[1], kept, __ATOMIC_SEQ_CST);
	EXPECT(!mprotect(addresses, TABLES_BYTES, PROT_READ));
}

int main(int argc, char **argv)
{
	seed = torture_seed(argc, argv);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 400; i++)
			jump();
		change();
		for (uint64_t x = 0; x < 30; x++) {
			EXPECT(by_address(x, 0, addresses) == x << 1);
			EXPECT(by_register(x, 1, addresses) == x + 11);
		}
		change();
	}
	puts("all landed");
	return 0;
}
