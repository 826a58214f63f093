/* SPDX-License-Identifier: MIT */
/*
 * For programs that want to talk to slope while they are profiled. Include it
 * anywhere; outside slope each macro is a handful of instructions that do
 * nothing. Nothing needs to be linked.
 *
 *   SLOPE_STOP();                 stop collecting, in all threads
 *   SLOPE_START();                go on
 *   SLOPE_NAME_THREAD("worker");  the name that reports show for this thread
 *   SLOPE_RUNNING()               1 under a slope source that understands these, else 0
 */
#ifndef SLOPE_H
#define SLOPE_H

#define SLOPE_REQUEST_BASE 0x534c0000ul   /* 'S' 'L' */
#define SLOPE_REQUEST_START (SLOPE_REQUEST_BASE + 1)
#define SLOPE_REQUEST_STOP (SLOPE_REQUEST_BASE + 2)
#define SLOPE_REQUEST_NAME_THREAD (SLOPE_REQUEST_BASE + 3)
#define SLOPE_REQUEST_RUNNING (SLOPE_REQUEST_BASE + 4)

/* Four rotations by 128 bits in all, and an exchange of a register with itself: the request mark on x86-64. */
static inline unsigned long slope_request(unsigned long request, unsigned long argument)
{
#if defined(__x86_64__) && defined(__linux__)
	volatile unsigned long block[6] = { request, argument, 0, 0, 0, 0 };
	unsigned long answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(block)
			 : "cc", "memory");
	return answer;
#else
	(void)request;
	(void)argument;
	return 0;
#endif
}

#define SLOPE_START() ((void)slope_request(SLOPE_REQUEST_START, 0))
#define SLOPE_STOP() ((void)slope_request(SLOPE_REQUEST_STOP, 0))
#define SLOPE_NAME_THREAD(name) ((void)slope_request(SLOPE_REQUEST_NAME_THREAD, (unsigned long)(name)))
#define SLOPE_RUNNING() ((int)slope_request(SLOPE_REQUEST_RUNNING, 0))

#endif
