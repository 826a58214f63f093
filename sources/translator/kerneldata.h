/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What system calls read and write of the program's memory, one line each:
 * X(call, IN or OUT, argument, how, size). IN is what the kernel reads, OUT
 * what it has written when the call succeeded. `how` says what `size` is:
 *
 *   TEXT      ends with a zero byte; size is 0
 *   BYTES     that many
 *   ARGUMENT  as many as this argument says
 *   RESULT    as many times size as the result says
 *   VECTOR    a list of buffers, as long as this argument says; OUT: up to the result
 *   MESSAGE   what a struct msghdr names: a list of buffers; OUT: up to the result
 *   POINTED   as many as the 32-bit number says that this argument points to
 *   ALL_OF    an array of as many times the low 16 bits as the argument in the high ones says
 *
 * A call that is in no line is said once, and counts as one that touches nothing.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_KERNELDATA_H
#define SLOPE_SOURCES_TRANSLATOR_KERNELDATA_H

#define KERNELDATA_LIST(X)                                                                                       \
	X(read, OUT, 1, RESULT, 1) X(pread64, OUT, 1, RESULT, 1) X(write, IN, 1, ARGUMENT, 2)                    \
	X(pwrite64, IN, 1, ARGUMENT, 2) X(readv, IN, 1, ALL_OF, 2 << 16 | 16) X(readv, OUT, 1, VECTOR, 2)        \
	X(preadv, OUT, 1, VECTOR, 2) X(preadv2, OUT, 1, VECTOR, 2) X(writev, IN, 1, ALL_OF, 2 << 16 | 16)        \
	X(writev, IN, 1, VECTOR, 2) X(pwritev, IN, 1, VECTOR, 2) X(pwritev2, IN, 1, VECTOR, 2)                   \
	X(open, IN, 0, TEXT, 0) X(openat, IN, 1, TEXT, 0) X(openat2, IN, 1, TEXT, 0) X(creat, IN, 0, TEXT, 0)    \
	X(stat, IN, 0, TEXT, 0) X(stat, OUT, 1, BYTES, 144) X(lstat, IN, 0, TEXT, 0) X(lstat, OUT, 1, BYTES, 144) \
	X(fstat, OUT, 1, BYTES, 144) X(newfstatat, IN, 1, TEXT, 0) X(newfstatat, OUT, 2, BYTES, 144)             \
	X(statx, IN, 1, TEXT, 0) X(statx, OUT, 4, BYTES, 256) X(statfs, IN, 0, TEXT, 0)                          \
	X(statfs, OUT, 1, BYTES, 120) X(fstatfs, OUT, 1, BYTES, 120) X(access, IN, 0, TEXT, 0)                   \
	X(faccessat, IN, 1, TEXT, 0) X(faccessat2, IN, 1, TEXT, 0) X(readlink, IN, 0, TEXT, 0)                   \
	X(readlink, OUT, 1, RESULT, 1) X(readlinkat, IN, 1, TEXT, 0) X(readlinkat, OUT, 2, RESULT, 1)            \
	X(getcwd, OUT, 0, RESULT, 1) X(chdir, IN, 0, TEXT, 0) X(mkdir, IN, 0, TEXT, 0)                           \
	X(mkdirat, IN, 1, TEXT, 0) X(rmdir, IN, 0, TEXT, 0) X(unlink, IN, 0, TEXT, 0) X(unlinkat, IN, 1, TEXT, 0) \
	X(rename, IN, 0, TEXT, 0) X(rename, IN, 1, TEXT, 0) X(renameat, IN, 1, TEXT, 0)                          \
	X(renameat, IN, 3, TEXT, 0) X(renameat2, IN, 1, TEXT, 0) X(renameat2, IN, 3, TEXT, 0)                    \
	X(link, IN, 0, TEXT, 0) X(link, IN, 1, TEXT, 0) X(symlink, IN, 0, TEXT, 0) X(symlink, IN, 1, TEXT, 0)    \
	X(chmod, IN, 0, TEXT, 0) X(fchmodat, IN, 1, TEXT, 0) X(chown, IN, 0, TEXT, 0) X(truncate, IN, 0, TEXT, 0) \
	X(utimensat, IN, 1, TEXT, 0) X(utimensat, IN, 2, BYTES, 32) X(getdents64, OUT, 1, RESULT, 1)             \
	X(getdents, OUT, 1, RESULT, 1) X(pipe, OUT, 0, BYTES, 8) X(pipe2, OUT, 0, BYTES, 8)                      \
	X(poll, IN, 0, ALL_OF, 1 << 16 | 8) X(poll, OUT, 0, ALL_OF, 1 << 16 | 8)                                 \
	X(ppoll, IN, 0, ALL_OF, 1 << 16 | 8) X(ppoll, OUT, 0, ALL_OF, 1 << 16 | 8)                               \
	X(epoll_wait, OUT, 1, RESULT, 12) X(epoll_pwait, OUT, 1, RESULT, 12) X(epoll_ctl, IN, 3, BYTES, 12)      \
	X(execve, IN, 0, TEXT, 0) X(uname, OUT, 0, BYTES, 390) X(sysinfo, OUT, 0, BYTES, 112)                    \
	X(getrlimit, OUT, 1, BYTES, 16) X(setrlimit, IN, 1, BYTES, 16) X(prlimit64, IN, 2, BYTES, 16)            \
	X(prlimit64, OUT, 3, BYTES, 16) X(getrusage, OUT, 1, BYTES, 144) X(times, OUT, 0, BYTES, 32)             \
	X(gettimeofday, OUT, 0, BYTES, 16) X(time, OUT, 0, BYTES, 8) X(clock_gettime, OUT, 1, BYTES, 16)         \
	X(clock_getres, OUT, 1, BYTES, 16) X(nanosleep, IN, 0, BYTES, 16) X(clock_nanosleep, IN, 2, BYTES, 16)   \
	X(setitimer, IN, 1, BYTES, 32) X(setitimer, OUT, 2, BYTES, 32) X(getitimer, OUT, 1, BYTES, 32)           \
	X(wait4, OUT, 1, BYTES, 4) X(wait4, OUT, 3, BYTES, 144) X(waitid, OUT, 2, BYTES, 128)                    \
	X(rt_sigaction, IN, 1, BYTES, 32) X(rt_sigaction, OUT, 2, BYTES, 32)                                     \
	X(rt_sigprocmask, IN, 1, BYTES, 8) X(rt_sigprocmask, OUT, 2, BYTES, 8) X(rt_sigsuspend, IN, 0, BYTES, 8) \
	X(rt_sigpending, OUT, 0, BYTES, 8) X(sigaltstack, IN, 0, BYTES, 24) X(sigaltstack, OUT, 1, BYTES, 24)    \
	X(getrandom, OUT, 0, RESULT, 1) X(sched_getaffinity, OUT, 2, RESULT, 1) X(getgroups, OUT, 1, RESULT, 4)  \
	X(getresuid, OUT, 0, BYTES, 4) X(getresuid, OUT, 1, BYTES, 4) X(getresuid, OUT, 2, BYTES, 4)             \
	X(getresgid, OUT, 0, BYTES, 4) X(getresgid, OUT, 1, BYTES, 4) X(getresgid, OUT, 2, BYTES, 4)             \
	X(socketpair, OUT, 3, BYTES, 8) X(connect, IN, 1, ARGUMENT, 2) X(bind, IN, 1, ARGUMENT, 2)               \
	X(sendto, IN, 1, ARGUMENT, 2) X(sendto, IN, 4, ARGUMENT, 5) X(recvfrom, OUT, 1, RESULT, 1)               \
	X(accept, OUT, 1, POINTED, 2) X(accept4, OUT, 1, POINTED, 2) X(getsockname, OUT, 1, POINTED, 2)          \
	X(getpeername, OUT, 1, POINTED, 2) X(getsockopt, OUT, 3, POINTED, 4) X(setsockopt, IN, 3, ARGUMENT, 4)   \
	X(set_robust_list, IN, 0, BYTES, 24) X(get_robust_list, OUT, 1, BYTES, 8)                                \
	X(copy_file_range, IN, 1, BYTES, 8) X(getxattr, IN, 0, TEXT, 0) X(getxattr, IN, 1, TEXT, 0)              \
	X(getxattr, OUT, 2, RESULT, 1) X(lgetxattr, IN, 0, TEXT, 0) X(lgetxattr, IN, 1, TEXT, 0)                 \
	X(lgetxattr, OUT, 2, RESULT, 1) X(fgetxattr, IN, 1, TEXT, 0) X(fgetxattr, OUT, 2, RESULT, 1)             \
	X(memfd_create, IN, 0, TEXT, 0) X(sendmsg, IN, 1, MESSAGE, 0) X(recvmsg, OUT, 1, MESSAGE, 0)              \
	X(sendmsg, IN, 1, BYTES, 56) X(recvmsg, IN, 1, BYTES, 56)                                      \
	X(timer_create, IN, 1, BYTES, 64) X(timer_create, OUT, 2, BYTES, 4)                                      \
	X(timer_settime, IN, 2, BYTES, 32) X(timer_settime, OUT, 3, BYTES, 32) X(timer_gettime, OUT, 1, BYTES, 32)

/* Calls that touch no memory, or only memory that is no data. */
#define KERNELDATA_NOTHING(X)                                                                                    \
	X(close) X(lseek) X(mmap) X(mprotect) X(munmap) X(mremap) X(brk) X(madvise) X(rt_sigreturn) X(ioctl)     \
	X(sched_yield) X(dup) X(dup2) X(dup3) X(pause) X(alarm) X(getpid) X(socket) X(listen) X(shutdown)        \
	X(clone) X(fork) X(vfork) X(exit) X(kill) X(fcntl) X(flock) X(fsync) X(fdatasync) X(ftruncate) X(fchdir) \
	X(fchmod) X(fchown) X(umask) X(getuid) X(getgid) X(setuid) X(setgid) X(geteuid) X(getegid) X(setpgid)    \
	X(getppid) X(getpgrp) X(setsid) X(getpgid) X(getsid) X(getpriority) X(setpriority) X(prctl) X(sync)      \
	X(gettid) X(tkill) X(tgkill) X(futex) X(set_tid_address) X(fadvise64) X(exit_group) X(fallocate)         \
	X(sendfile) X(splice) X(tee) X(epoll_create) X(epoll_create1) X(eventfd) X(eventfd2) X(msync) X(mincore) \
	X(mlock) X(munlock) X(clone3) X(rseq) X(membarrier) X(close_range) X(pidfd_open) X(select) X(pselect6)   \
	X(io_uring_setup) X(sched_setaffinity) X(sched_getparam) X(sched_getscheduler)     \
	X(execveat) X(arch_prctl) X(setresuid) X(setresgid) X(setreuid) X(setregid) X(setfsuid)          \
	X(setfsgid) X(timer_delete) X(timer_getoverrun) X(inotify_init1) X(inotify_rm_watch) X(readahead)        \
	X(sync_file_range) X(ioprio_get) X(ioprio_set) X(personality) X(getcpu) X(signalfd4)

#endif
