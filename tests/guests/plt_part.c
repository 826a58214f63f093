/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shared object that plt.c calls into. It calls functions of its own
 * through its own linkage table: another one, itself, and itself as the last
 * thing it does (a jump into the table).
 */
int outside(int x);
int further(int x);
int climb(int x);
int slide(int x, int s);

__attribute__((noipa)) int further(int x)
{
	return x * 3;
}

__attribute__((noipa)) int outside(int x)
{
	return further(x) + 1;
}

__attribute__((noipa)) int climb(int x)
{
	return x == 0 ? 0 : climb(x - 1) + 2;
}

__asm__(".globl slide\n"
	".type slide, @function\n"
	"slide:\n"
	"	movl %esi, %eax\n"
	"	testl %edi, %edi\n"
	"	je 1f\n"
	"	addl %edi, %esi\n"
	"	decl %edi\n"
	"	jmp slide@plt\n"
	"1:	ret\n"
	".size slide, . - slide\n");
