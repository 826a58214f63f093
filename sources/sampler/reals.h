/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The C library's functions that the sampler stands before: see SLOPE_REAL in sampler.h. */
#ifndef SLOPE_SAMPLER_REALS_H
#define SLOPE_SAMPLER_REALS_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE first"
#endif

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <unistd.h>

#include "sources/sampler/sampler.h"

/* What programs that were compiled with checks call; `room` is the size of the array. */
int __poll_chk(struct pollfd *fd, nfds_t count, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd *fd, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room);

/* The program is to find ours; all else in the library is hidden. */
#define X(name) extern __typeof__(name) name __attribute__((visibility("default")));
SLOPE_REAL_LIST(X)
X(signal) X(__sysv_signal) X(_Exit) X(execv) X(execvp) X(execl) X(execle) X(execlp)
#undef X

struct slope_reals {
#define X(name) __typeof__(&name) name;
	SLOPE_REAL_LIST(X)
#undef X
};

#endif
