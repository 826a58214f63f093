/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What system calls read and write of the program's memory, one line each:
 * X(call, when, argument, how, size). IN is what the kernel reads, OUT what it
 * has written when the call succeeded, INTERRUPTED what it has written when a
 * signal ended it. `how` says what `size` is:
 *
 *   TEXT      ends with a zero byte; size is 0
 *   BYTES     that many
 *   ARGUMENT  as many as this argument says
 *   RESULT    as many times size as the result says
 *   VECTOR    a list of buffers, as long as this argument says; OUT: up to the result
 *   MESSAGE   what a struct msghdr names: a list of buffers; OUT: up to the result
 *   POINTED   as many as the 32-bit number says that this argument points to
 *   MESSAGES  an array of these with their results, as long as this argument says; OUT: as the result says
 *   BITS      a bit for each of as many as this argument says, in words of 8 bytes
 *   PAGES     a byte for each page of as many bytes as this argument says
 *   AND_TYPE  8 and as many as this argument says; RESULT_AND_TYPE: 8 and as many as the result says
 *   ALL_OF    an array of as many times the low 16 bits as the argument in the high ones says
 *
 * A call that is in no line is said once, and counts as one that touches nothing.
 */
#ifndef SLOPE_SOURCES_TRANSLATOR_KERNELDATA_H
#define SLOPE_SOURCES_TRANSLATOR_KERNELDATA_H

#define KERNELDATA_LIST(X)                                                                                             \
	X(read, OUT, 1, RESULT, 1) X(pread64, OUT, 1, RESULT, 1) X(write, IN, 1, ARGUMENT, 2)                          \
	X(pwrite64, IN, 1, ARGUMENT, 2) X(readv, IN, 1, ALL_OF, 2 << 16 | 16) X(readv, OUT, 1, VECTOR, 2)              \
	X(preadv, IN, 1, ALL_OF, 2 << 16 | 16) X(preadv, OUT, 1, VECTOR, 2)                                            \
	X(preadv2, IN, 1, ALL_OF, 2 << 16 | 16) X(preadv2, OUT, 1, VECTOR, 2)                                          \
	X(writev, IN, 1, ALL_OF, 2 << 16 | 16) X(writev, IN, 1, VECTOR, 2)                                             \
	X(pwritev, IN, 1, ALL_OF, 2 << 16 | 16) X(pwritev, IN, 1, VECTOR, 2)                                           \
	X(pwritev2, IN, 1, ALL_OF, 2 << 16 | 16) X(pwritev2, IN, 1, VECTOR, 2)                                         \
	X(vmsplice, IN, 1, ALL_OF, 2 << 16 | 16) X(vmsplice, IN, 1, VECTOR, 2)                                         \
	X(process_vm_readv, IN, 1, ALL_OF, 2 << 16 | 16) X(process_vm_readv, IN, 3, ALL_OF, 4 << 16 | 16)              \
	X(process_vm_readv, OUT, 1, VECTOR, 2) X(process_vm_writev, IN, 1, ALL_OF, 2 << 16 | 16)                       \
	X(process_vm_writev, IN, 3, ALL_OF, 4 << 16 | 16) X(process_vm_writev, IN, 1, VECTOR, 2)                       \
	X(open, IN, 0, TEXT, 0) X(openat, IN, 1, TEXT, 0) X(openat2, IN, 1, TEXT, 0)                                   \
	X(openat2, IN, 2, ARGUMENT, 3) X(creat, IN, 0, TEXT, 0) X(stat, IN, 0, TEXT, 0)                                \
	X(stat, OUT, 1, BYTES, 144) X(lstat, IN, 0, TEXT, 0) X(lstat, OUT, 1, BYTES, 144)                              \
	X(fstat, OUT, 1, BYTES, 144) X(newfstatat, IN, 1, TEXT, 0) X(newfstatat, OUT, 2, BYTES, 144)                   \
	X(statx, IN, 1, TEXT, 0) X(statx, OUT, 4, BYTES, 256) X(statfs, IN, 0, TEXT, 0)                                \
	X(statfs, OUT, 1, BYTES, 120) X(fstatfs, OUT, 1, BYTES, 120) X(ustat, OUT, 1, BYTES, 32)                       \
	X(access, IN, 0, TEXT, 0) X(faccessat, IN, 1, TEXT, 0) X(faccessat2, IN, 1, TEXT, 0)                           \
	X(readlink, IN, 0, TEXT, 0) X(readlink, OUT, 1, RESULT, 1) X(readlinkat, IN, 1, TEXT, 0)                       \
	X(readlinkat, OUT, 2, RESULT, 1) X(getcwd, OUT, 0, RESULT, 1) X(chdir, IN, 0, TEXT, 0)                         \
	X(chroot, IN, 0, TEXT, 0) X(mkdir, IN, 0, TEXT, 0) X(mkdirat, IN, 1, TEXT, 0) X(rmdir, IN, 0, TEXT, 0)         \
	X(unlink, IN, 0, TEXT, 0) X(unlinkat, IN, 1, TEXT, 0) X(mknod, IN, 0, TEXT, 0)                                 \
	X(mknodat, IN, 1, TEXT, 0) X(rename, IN, 0, TEXT, 0) X(rename, IN, 1, TEXT, 0)                                 \
	X(renameat, IN, 1, TEXT, 0) X(renameat, IN, 3, TEXT, 0) X(renameat2, IN, 1, TEXT, 0)                           \
	X(renameat2, IN, 3, TEXT, 0) X(link, IN, 0, TEXT, 0) X(link, IN, 1, TEXT, 0) X(linkat, IN, 1, TEXT, 0)         \
	X(linkat, IN, 3, TEXT, 0) X(symlink, IN, 0, TEXT, 0) X(symlink, IN, 1, TEXT, 0)                                \
	X(symlinkat, IN, 0, TEXT, 0) X(symlinkat, IN, 2, TEXT, 0) X(chmod, IN, 0, TEXT, 0)                             \
	X(fchmodat, IN, 1, TEXT, 0) X(chown, IN, 0, TEXT, 0) X(lchown, IN, 0, TEXT, 0)                                 \
	X(fchownat, IN, 1, TEXT, 0) X(truncate, IN, 0, TEXT, 0) X(utime, IN, 0, TEXT, 0)                               \
	X(utime, IN, 1, BYTES, 16) X(utimes, IN, 0, TEXT, 0) X(utimes, IN, 1, BYTES, 32)                               \
	X(futimesat, IN, 1, TEXT, 0) X(futimesat, IN, 2, BYTES, 32) X(utimensat, IN, 1, TEXT, 0)                       \
	X(utimensat, IN, 2, BYTES, 32) X(getdents64, OUT, 1, RESULT, 1) X(getdents, OUT, 1, RESULT, 1)                 \
	X(mount, IN, 0, TEXT, 0) X(mount, IN, 1, TEXT, 0) X(mount, IN, 2, TEXT, 0) X(umount2, IN, 0, TEXT, 0)          \
	X(pivot_root, IN, 0, TEXT, 0) X(pivot_root, IN, 1, TEXT, 0) X(move_mount, IN, 1, TEXT, 0)                      \
	X(move_mount, IN, 3, TEXT, 0) X(open_tree, IN, 1, TEXT, 0) X(fsopen, IN, 0, TEXT, 0)                           \
	X(fspick, IN, 1, TEXT, 0) X(mount_setattr, IN, 1, TEXT, 0) X(mount_setattr, IN, 3, ARGUMENT, 4)                \
	X(acct, IN, 0, TEXT, 0) X(swapon, IN, 0, TEXT, 0) X(swapoff, IN, 0, TEXT, 0)                                   \
	X(name_to_handle_at, IN, 1, TEXT, 0) X(name_to_handle_at, OUT, 3, BYTES, 4) X(setxattr, IN, 0, TEXT, 0)        \
	X(setxattr, IN, 1, TEXT, 0) X(setxattr, IN, 2, ARGUMENT, 3) X(lsetxattr, IN, 0, TEXT, 0)                       \
	X(lsetxattr, IN, 1, TEXT, 0) X(lsetxattr, IN, 2, ARGUMENT, 3) X(fsetxattr, IN, 1, TEXT, 0)                     \
	X(fsetxattr, IN, 2, ARGUMENT, 3) X(getxattr, IN, 0, TEXT, 0) X(getxattr, IN, 1, TEXT, 0)                       \
	X(getxattr, OUT, 2, RESULT, 1) X(lgetxattr, IN, 0, TEXT, 0) X(lgetxattr, IN, 1, TEXT, 0)                       \
	X(lgetxattr, OUT, 2, RESULT, 1) X(fgetxattr, IN, 1, TEXT, 0) X(fgetxattr, OUT, 2, RESULT, 1)                   \
	X(listxattr, IN, 0, TEXT, 0) X(listxattr, OUT, 1, RESULT, 1) X(llistxattr, IN, 0, TEXT, 0)                     \
	X(llistxattr, OUT, 1, RESULT, 1) X(flistxattr, OUT, 1, RESULT, 1) X(removexattr, IN, 0, TEXT, 0)               \
	X(removexattr, IN, 1, TEXT, 0) X(lremovexattr, IN, 0, TEXT, 0) X(lremovexattr, IN, 1, TEXT, 0)                 \
	X(fremovexattr, IN, 1, TEXT, 0) X(pipe, OUT, 0, BYTES, 8) X(pipe2, OUT, 0, BYTES, 8)                           \
	X(sendfile, IN, 2, BYTES, 8) X(sendfile, OUT, 2, BYTES, 8) X(splice, IN, 1, BYTES, 8)                          \
	X(splice, OUT, 1, BYTES, 8) X(splice, IN, 3, BYTES, 8) X(splice, OUT, 3, BYTES, 8)                             \
	X(copy_file_range, IN, 1, BYTES, 8) X(copy_file_range, OUT, 1, BYTES, 8)                                       \
	X(copy_file_range, IN, 3, BYTES, 8) X(copy_file_range, OUT, 3, BYTES, 8)                                       \
	X(poll, IN, 0, ALL_OF, 1 << 16 | 8) X(poll, OUT, 0, ALL_OF, 1 << 16 | 8)                                       \
	X(ppoll, IN, 0, ALL_OF, 1 << 16 | 8) X(ppoll, OUT, 0, ALL_OF, 1 << 16 | 8) X(ppoll, IN, 2, BYTES, 16)          \
	X(ppoll, IN, 3, BYTES, 8) X(select, IN, 1, BITS, 0) X(select, IN, 2, BITS, 0) X(select, IN, 3, BITS, 0)        \
	X(select, IN, 4, BYTES, 16) X(select, OUT, 1, BITS, 0) X(select, OUT, 2, BITS, 0)                              \
	X(select, OUT, 3, BITS, 0) X(select, OUT, 4, BYTES, 16) X(pselect6, IN, 1, BITS, 0)                            \
	X(pselect6, IN, 2, BITS, 0) X(pselect6, IN, 3, BITS, 0) X(pselect6, IN, 4, BYTES, 16)                          \
	X(pselect6, OUT, 1, BITS, 0) X(pselect6, OUT, 2, BITS, 0) X(pselect6, OUT, 3, BITS, 0)                         \
	X(epoll_wait, OUT, 1, RESULT, 12) X(epoll_pwait, OUT, 1, RESULT, 12) X(epoll_pwait, IN, 4, BYTES, 8)           \
	X(epoll_pwait2, OUT, 1, RESULT, 12) X(epoll_pwait2, IN, 3, BYTES, 16) X(epoll_pwait2, IN, 4, BYTES, 8)         \
	X(epoll_ctl, IN, 3, BYTES, 12) X(inotify_add_watch, IN, 1, TEXT, 0) X(fanotify_mark, IN, 4, TEXT, 0)           \
	X(memfd_create, IN, 0, TEXT, 0) X(signalfd, IN, 1, BYTES, 8) X(signalfd4, IN, 1, BYTES, 8)                     \
	X(timerfd_settime, IN, 2, BYTES, 32) X(timerfd_settime, OUT, 3, BYTES, 32)                                     \
	X(timerfd_gettime, OUT, 1, BYTES, 32) X(execve, IN, 0, TEXT, 0) X(execveat, IN, 1, TEXT, 0)                    \
	X(uname, OUT, 0, BYTES, 390) X(sysinfo, OUT, 0, BYTES, 112) X(sethostname, IN, 0, ARGUMENT, 1)                 \
	X(setdomainname, IN, 0, ARGUMENT, 1) X(syslog, OUT, 1, RESULT, 1) X(getrlimit, OUT, 1, BYTES, 16)              \
	X(setrlimit, IN, 1, BYTES, 16) X(prlimit64, IN, 2, BYTES, 16) X(prlimit64, OUT, 3, BYTES, 16)                  \
	X(getrusage, OUT, 1, BYTES, 144) X(times, OUT, 0, BYTES, 32) X(gettimeofday, OUT, 0, BYTES, 16)                \
	X(gettimeofday, OUT, 1, BYTES, 8) X(settimeofday, IN, 0, BYTES, 16) X(settimeofday, IN, 1, BYTES, 8)           \
	X(time, OUT, 0, BYTES, 8) X(clock_gettime, OUT, 1, BYTES, 16) X(clock_getres, OUT, 1, BYTES, 16)               \
	X(clock_settime, IN, 1, BYTES, 16) X(clock_adjtime, IN, 1, BYTES, 208)                                         \
	X(clock_adjtime, OUT, 1, BYTES, 208) X(adjtimex, IN, 0, BYTES, 208) X(adjtimex, OUT, 0, BYTES, 208)            \
	X(nanosleep, IN, 0, BYTES, 16) X(nanosleep, INTERRUPTED, 1, BYTES, 16)                                         \
	X(clock_nanosleep, IN, 2, BYTES, 16) X(clock_nanosleep, INTERRUPTED, 3, BYTES, 16)                             \
	X(setitimer, IN, 1, BYTES, 32) X(setitimer, OUT, 2, BYTES, 32) X(getitimer, OUT, 1, BYTES, 32)                 \
	X(timer_create, IN, 1, BYTES, 64) X(timer_create, OUT, 2, BYTES, 4) X(timer_settime, IN, 2, BYTES, 32)         \
	X(timer_settime, OUT, 3, BYTES, 32) X(timer_gettime, OUT, 1, BYTES, 32) X(wait4, OUT, 1, BYTES, 4)             \
	X(wait4, OUT, 3, BYTES, 144) X(waitid, OUT, 2, BYTES, 128) X(waitid, OUT, 4, BYTES, 144)                       \
	X(rt_sigaction, IN, 1, BYTES, 32) X(rt_sigaction, OUT, 2, BYTES, 32) X(rt_sigprocmask, IN, 1, BYTES, 8)        \
	X(rt_sigprocmask, OUT, 2, BYTES, 8) X(rt_sigsuspend, IN, 0, BYTES, 8) X(rt_sigpending, OUT, 0, BYTES, 8)       \
	X(rt_sigtimedwait, IN, 0, BYTES, 8) X(rt_sigtimedwait, OUT, 1, BYTES, 128)                                     \
	X(rt_sigtimedwait, IN, 2, BYTES, 16) X(rt_sigqueueinfo, IN, 2, BYTES, 128)                                     \
	X(rt_tgsigqueueinfo, IN, 3, BYTES, 128) X(pidfd_send_signal, IN, 2, BYTES, 128)                                \
	X(sigaltstack, IN, 0, BYTES, 24) X(sigaltstack, OUT, 1, BYTES, 24)                                             \
	X(futex_waitv, IN, 0, ALL_OF, 1 << 16 | 24) X(getrandom, OUT, 0, RESULT, 1)                                    \
	X(getgroups, OUT, 1, RESULT, 4) X(setgroups, IN, 1, ALL_OF, 0 << 16 | 4) X(getcpu, OUT, 0, BYTES, 4)           \
	X(getcpu, OUT, 1, BYTES, 4) X(getresuid, OUT, 0, BYTES, 4) X(getresuid, OUT, 1, BYTES, 4)                      \
	X(getresuid, OUT, 2, BYTES, 4) X(getresgid, OUT, 0, BYTES, 4) X(getresgid, OUT, 1, BYTES, 4)                   \
	X(getresgid, OUT, 2, BYTES, 4) X(capget, IN, 0, BYTES, 8) X(capget, OUT, 1, BYTES, 24)                         \
	X(capset, IN, 0, BYTES, 8) X(capset, IN, 1, BYTES, 24) X(sched_getaffinity, OUT, 2, RESULT, 1)                 \
	X(sched_setaffinity, IN, 2, ARGUMENT, 1) X(sched_getparam, OUT, 1, BYTES, 4)                                   \
	X(sched_setparam, IN, 1, BYTES, 4) X(sched_setscheduler, IN, 2, BYTES, 4)                                      \
	X(sched_getattr, OUT, 1, ARGUMENT, 2) X(sched_setattr, IN, 1, BYTES, 48)                                       \
	X(sched_rr_get_interval, OUT, 1, BYTES, 16) X(socketpair, OUT, 3, BYTES, 8)                                    \
	X(connect, IN, 1, ARGUMENT, 2) X(bind, IN, 1, ARGUMENT, 2) X(sendto, IN, 1, ARGUMENT, 2)                       \
	X(sendto, IN, 4, ARGUMENT, 5) X(recvfrom, OUT, 1, RESULT, 1) X(recvfrom, OUT, 4, POINTED, 5)                   \
	X(accept, OUT, 1, POINTED, 2) X(accept4, OUT, 1, POINTED, 2) X(getsockname, OUT, 1, POINTED, 2)                \
	X(getpeername, OUT, 1, POINTED, 2) X(getsockopt, OUT, 3, POINTED, 4) X(setsockopt, IN, 3, ARGUMENT, 4)         \
	X(sendmsg, IN, 1, BYTES, 56) X(sendmsg, IN, 1, MESSAGE, 0) X(recvmsg, IN, 1, BYTES, 56)                        \
	X(recvmsg, OUT, 1, MESSAGE, 0) X(sendmmsg, IN, 1, ALL_OF, 2 << 16 | 64) X(sendmmsg, IN, 1, MESSAGES, 2)        \
	X(recvmmsg, IN, 1, ALL_OF, 2 << 16 | 64) X(recvmmsg, OUT, 1, MESSAGES, 2) X(recvmmsg, IN, 4, BYTES, 16)        \
	X(mq_open, IN, 0, TEXT, 0) X(mq_unlink, IN, 0, TEXT, 0) X(mq_timedsend, IN, 1, ARGUMENT, 2)                    \
	X(mq_timedsend, IN, 4, BYTES, 16) X(mq_timedreceive, OUT, 1, RESULT, 1)                                        \
	X(mq_timedreceive, OUT, 3, BYTES, 4) X(mq_timedreceive, IN, 4, BYTES, 16) X(mq_notify, IN, 1, BYTES, 64)       \
	X(mq_getsetattr, IN, 1, BYTES, 64) X(mq_getsetattr, OUT, 2, BYTES, 64)                                         \
	X(semop, IN, 1, ALL_OF, 2 << 16 | 6) X(semtimedop, IN, 1, ALL_OF, 2 << 16 | 6)                                 \
	X(semtimedop, IN, 3, BYTES, 16) X(msgsnd, IN, 1, AND_TYPE, 2) X(msgrcv, OUT, 1, RESULT_AND_TYPE, 0)            \
	X(set_robust_list, IN, 0, BYTES, 24) X(get_robust_list, OUT, 1, BYTES, 8)                                      \
	X(get_robust_list, OUT, 2, BYTES, 8) X(mincore, OUT, 2, PAGES, 1) X(get_mempolicy, OUT, 0, BYTES, 4)           \
	X(set_mempolicy, IN, 1, BYTES, 8) X(mbind, IN, 3, BYTES, 8) X(add_key, IN, 0, TEXT, 0)                         \
	X(add_key, IN, 1, TEXT, 0) X(add_key, IN, 2, ARGUMENT, 3) X(request_key, IN, 0, TEXT, 0)                       \
	X(request_key, IN, 1, TEXT, 0) X(perf_event_open, IN, 0, BYTES, 64) X(io_setup, OUT, 1, BYTES, 8)              \
	X(landlock_create_ruleset, IN, 0, ARGUMENT, 1) X(landlock_add_rule, IN, 2, BYTES, 12)                          \
	X(seccomp, IN, 2, BYTES, 16) X(quotactl, IN, 1, TEXT, 0)

/*
 * Calls that touch no memory, or only memory that is no data; and those whose
 * memory depends on a command: kerneldata.c knows the usual ones of ioctl,
 * fcntl, futex, prctl and the three of System V.
 */
#define KERNELDATA_NOTHING(X)                                                                                          \
	X(close) X(futex) X(lseek) X(mmap) X(mprotect) X(munmap) X(mremap) X(brk) X(madvise) X(rt_sigreturn) X(ioctl)           \
	X(sched_yield) X(dup) X(dup2) X(dup3) X(pause) X(alarm) X(getpid) X(socket) X(listen) X(shutdown)              \
	X(clone) X(fork) X(vfork) X(exit) X(kill) X(fcntl) X(flock) X(fsync) X(fdatasync) X(ftruncate) X(fchdir)       \
	X(fchmod) X(fchown) X(umask) X(getuid) X(getgid) X(setuid) X(setgid) X(geteuid) X(getegid) X(setpgid)          \
	X(getppid) X(getpgrp) X(setsid) X(getpgid) X(getsid) X(getpriority) X(setpriority) X(prctl) X(sync)            \
	X(gettid) X(tkill) X(tgkill) X(set_tid_address) X(fadvise64) X(exit_group) X(fallocate) X(tee)                 \
	X(epoll_create) X(epoll_create1) X(eventfd) X(eventfd2) X(msync) X(mlock) X(munlock) X(mlock2)                 \
	X(mlockall) X(munlockall) X(clone3) X(rseq) X(membarrier) X(close_range) X(pidfd_open) X(pidfd_getfd)          \
	X(io_uring_setup) X(io_uring_enter) X(io_uring_register) X(sched_getscheduler) X(sched_get_priority_max)       \
	X(sched_get_priority_min) X(arch_prctl) X(setresuid) X(setresgid) X(setreuid) X(setregid) X(setfsuid)          \
	X(setfsgid) X(timer_delete) X(timer_getoverrun) X(timerfd_create) X(inotify_init) X(inotify_init1)             \
	X(inotify_rm_watch) X(readahead) X(syncfs) X(sync_file_range) X(ioprio_get) X(ioprio_set) X(personality)       \
	X(restart_syscall) X(pkey_alloc) X(pkey_free) X(pkey_mprotect) X(process_madvise) X(process_mrelease)          \
	X(memfd_secret) X(userfaultfd) X(fanotify_init) X(fsmount) X(landlock_restrict_self) X(setns) X(unshare)       \
	X(kcmp) X(vhangup) X(iopl) X(ioperm) X(reboot) X(delete_module) X(migrate_pages)                               \
	X(set_mempolicy_home_node) X(msgget) X(semget) X(shmget) X(shmdt) X(shmat) X(msgctl) X(semctl) X(shmctl)       \
	X(io_destroy) X(remap_file_pages) X(modify_ldt) X(ptrace)

#endif
