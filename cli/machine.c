/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/datafile.h"
#include "cli/launch.h"
#include "cli/messages.h"
#include "cli/observer.h"
#include "cli/program.h"
#include "cli/samplercheck.h"
#include "report/gnuplot.h"
#include "report/page_write.h"

#define DISK_LOW_BYTES (UINT64_C(100) << 20)
#define DEBUG_FILES "/usr/lib/debug/.build-id"
#define HWCAP2_FSGSBASE 2u
#define OVERCOMMIT_NEVER 2u
#define LOWEST_ADDRESS 0x100000u         /* where the translator lets programs begin */
#define CELL_BYTES 4u

const char *slope_health_word(enum slope_health health)
{
	static const char *const word[] = { "ok", "note", "missing" };

	return word[health];
}

void slope_checkups_free(struct slope_checkup *checkup, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(checkup[i].found);
		free(checkup[i].advice);
	}
}

/* Fills in what a check found; `advice` may be NULL. Takes `found` over. */
static void conclude(struct slope_checkup *c, enum slope_health health, char *found, const char *advice)
{
	c->health = health;
	c->found = found;
	c->advice = advice ? slope_text("%s", advice) : NULL;
}

static void check_system(struct slope_checkup *c)
{
	struct utsname u;
	bool known = uname(&u) == 0;
	bool good = known && !strcmp(u.machine, "x86_64");

	c->name = "system";
	conclude(c, good ? SLOPE_HEALTH_GOOD : SLOPE_HEALTH_BAD,
		 known ? slope_text("%s %s, %s", u.sysname, u.release, u.machine) : slope_text("unknown"),
		 good ? NULL : "slope profiles x86-64 programs on Linux; use such a machine");
}

bool slope_machine_processor_has(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	size_t room = 0, length = strlen(flag);
	char *line = NULL;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *at = !strncmp(line, "flags", 5) ? line : NULL;

		while (at && !found && (at = strstr(at + 1, flag)))
			found = at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n');
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* What the translator is built on; Valgrind does without either. */
static void check_processor(struct slope_checkup *c)
{
	bool fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE, bmi2 = slope_machine_processor_has("bmi2");

	c->name = "processor";
	if (!fsgsbase)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("programs cannot set %%gs (no FSGSBASE)"),
			 "the translator needs that: a processor with FSGSBASE, and Linux 5.9 or later; --source=valgrind does without");
	else if (!bmi2)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("FSGSBASE, no BMI2"),
			 "without BMI2 the translator's checks take longer, or it says that it cannot; --source=valgrind does without");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("FSGSBASE, BMI2"), NULL);
}

static void check_translator(struct slope_checkup *c, const struct slope_launcher *launcher, const char *obstacle)
{
	c->name = "translator";
	if (!obstacle)
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("%s with %s", launcher->translator, SLOPE_ZYDIS_LIBRARY), NULL);
	else
		conclude(c, SLOPE_HEALTH_LESS, slope_text("%s", obstacle), "'slope record' works with Valgrind alone");
}

/* How bad it is that Valgrind cannot be used. */
static enum slope_health without_valgrind(const char *obstacle)
{
	return SLOPE_SOURCE_PREFERRED == SLOPE_SOURCE_TRANSLATOR && !obstacle ? SLOPE_HEALTH_LESS : SLOPE_HEALTH_BAD;
}

static void check_valgrind(struct slope_checkup *c, const struct slope_launcher *launcher, enum slope_health without)
{
	char *argv[] = { launcher->valgrind, "--version", NULL }, line[128];

	c->name = "valgrind";
	if (!launcher->valgrind) {
		conclude(c, without, slope_text("not on PATH"), "install it; on Debian: apt install valgrind");
		return;
	}
	if (slope_program_ask(argv, line, sizeof line) != 0)
		conclude(c, without, slope_text("%s does not run: %s", launcher->valgrind, line),
			 "install it again; on Debian: apt install --reinstall valgrind");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("%s, %s", line, launcher->valgrind), NULL);
}

static void check_tool(struct slope_checkup *c, const struct slope_launcher *launcher, enum slope_health without)
{
	c->name = "tool";
	if (launcher->tool)
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("%s", launcher->tool), NULL);
	else
		conclude(c, without, slope_text("slope's Valgrind tool is not beside the slope command"),
			 "build it with 'make', or install slope as a whole with 'make install'");
}

static uint64_t kernel_setting(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long value = 0;

	if (file && fscanf(file, "%llu", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

/* Shadow memory is reserved where the program might need it, and backed where it does. */
static void check_memory(struct slope_checkup *c)
{
	struct rlimit limit;
	bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
	uint64_t lowest = kernel_setting("/proc/sys/vm/mmap_min_addr");

	c->name = "address space";
	if (limited)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("limited to %llu MB", (unsigned long long)limit.rlim_cur >> 20),
			 "a profiled program needs several times its memory; lift the limit with 'ulimit -v unlimited'");
	else if (kernel_setting("/proc/sys/vm/overcommit_memory") == OVERCOMMIT_NEVER)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("the kernel promises no more memory than it has (vm.overcommit_memory=2)"),
			 "shadow memory is reserved in large pieces that are hardly used; 'sysctl vm.overcommit_memory=0' allows that");
	else if (lowest > LOWEST_ADDRESS)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("begins at %#llx (vm.mmap_min_addr)", (unsigned long long)lowest),
			 "programs with fixed addresses may not fit; 'sysctl vm.mmap_min_addr=65536' is usual");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("unlimited, from %#llx on", (unsigned long long)lowest), NULL);
}

static void check_disk(struct slope_checkup *c)
{
	struct statvfs fs;
	bool known = statvfs(".", &fs) == 0, writable = access(".", W_OK) == 0;
	uint64_t bytes = known ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;

	c->name = "this folder";
	if (!writable)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("not writable"), "name another place for the profile: -o FILE");
	else
		conclude(c, bytes < DISK_LOW_BYTES ? SLOPE_HEALTH_LESS : SLOPE_HEALTH_GOOD,
			 slope_text("writable, %llu MB free", (unsigned long long)bytes >> 20),
			 bytes < DISK_LOW_BYTES ? "make room, or name another place for the profile: -o FILE" : NULL);
}

static void check_debug_symbols(struct slope_checkup *c)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool local = access(DEBUG_FILES, R_OK) == 0, asked = urls && *urls;

	c->name = "debug symbols";
	if (local || asked)
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("%s%s%s", local ? DEBUG_FILES : "", local && asked ? ", " : "",
							  asked ? "debuginfod" : ""), NULL);
	else
		conclude(c, SLOPE_HEALTH_LESS, slope_text("only what programs bring themselves"),
			 "for names and lines in system libraries install their debug packages, or set DEBUGINFOD_URLS "
			 "(on Debian: https://debuginfod.debian.net)");
}

static void check_cache(struct slope_checkup *c)
{
	char *folder = slope_datafile_cache();
	bool there = folder && access(folder, F_OK) == 0, writable = there && access(folder, W_OK | X_OK) == 0;

	c->name = "cache";
	if (!folder)
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("none: source lines are looked up in every run"), NULL);
	else if (there && !writable)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("%s cannot be written", folder),
			 "let SLOPE_CACHE name another folder, or set it to nothing to do without");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("source lines are kept in %s", folder), NULL);
	free(folder);
}

static void check_page(struct slope_checkup *c)
{
	const char *missing = slope_page_missing();

	c->name = "report page";
	if (missing)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("not in this slope: %s", missing),
			 "install nodejs and npm and build slope again, in a fresh folder; 'slope html' needs it");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("there; 'slope html' writes it"), NULL);
}

/* Only pictures need it: a note, and slope is usable without. */
static void check_gnuplot(struct slope_checkup *c)
{
	char *path = slope_program_find(SLOPE_GNUPLOT_PROGRAM), line[128];
	char *argv[] = { path, "--version", NULL };

	c->name = "gnuplot";
	if (!path)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("not on PATH; 'slope show -o FILE.png' and FILE.svg need it"),
			 "install it; on Debian: apt install gnuplot-nox");
	else if (slope_program_ask(argv, line, sizeof line) != 0)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("%s does not run: %s", path, line),
			 "install it again; on Debian: apt install --reinstall gnuplot-nox");
	else
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("%s, %s", line, path), NULL);
	free(path);
}

/* ---- counters ---- */

/* How many of these are read in this way; `hardware`: among those of the processor alone. */
static size_t count_events(const struct slope_events *events, bool hardware, enum slope_event_how how)
{
	size_t n = 0;

	for (size_t i = 0; i < events->count; i++) {
		const struct slope_event *e = &events->event[i];

		n += e->how == how && (!strcmp(e->kind, "hardware") || !strcmp(e->kind, "cache")) == hardware;
	}
	return n;
}

/* Why the processor's most usual event cannot be counted; NULL: it can. */
static const char *no_cycles(const struct slope_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!strcmp(events->event[i].name, "cycles"))
			return events->event[i].reason;
	return NULL;
}

/* Only counters along paths need it. */
static void check_counters(struct slope_checkup *c, const struct slope_events *events)
{
	size_t quick = count_events(events, true, SLOPE_EVENT_RDPMC), slow = count_events(events, true, SLOPE_EVENT_READ);
	size_t others = count_events(events, false, SLOPE_EVENT_READ) + count_events(events, false, SLOPE_EVENT_FREE);
	const char *reason = no_cycles(events);

	c->name = "counters";
	if (events->obstacle)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("%s", events->obstacle), "'slope record --event' needs it; all else does not");
	else if (!quick && !slow)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("none of the processor's: %s; %zu others", reason ? reason : "unknown", others),
			 "'slope record --event' takes time, task-clock, page-faults and others that are named below all the same");
	else if (!quick)
		conclude(c, SLOPE_HEALTH_LESS, slope_text("%zu of the processor's, %zu others; no rdpmc", slow, others),
			 "each reading is a system call; 'echo 1 >/sys/bus/event_source/devices/cpu/rdpmc' (as root) lets programs read "
			 "counters themselves");
	else
		conclude(c, SLOPE_HEALTH_GOOD,
			 slope_text("%zu of the processor's (rdpmc for %zu), %zu others", quick + slow, quick, others), NULL);
}

/* ---- a run ---- */

/* The path of `name` in a new folder for one run; NULL, with `folder` empty, when there is no room. */
static char *scratch_file(char *folder, size_t folder_bytes, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, folder_bytes, "%s/slope-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(folder))
		return slope_text("%s/%s", folder, name);
	folder[0] = '\0';
	return NULL;
}

static void judge_run(struct slope_checkup *c, int status, const char *line, const char *file)
{
	char error[256] = "";
	struct slope_profile *profile = status == 0 ? slope_profile_load(file, error, sizeof error) : NULL;

	if (profile && profile->complete && slope_datafile_functions(profile))
		conclude(c, SLOPE_HEALTH_GOOD, slope_text("recorded /bin/true: %llu functions, %llu points",
							  (unsigned long long)slope_datafile_functions(profile),
							  (unsigned long long)slope_datafile_points(profile)), NULL);
	else
		conclude(c, SLOPE_HEALTH_BAD, slope_text("/bin/true could not be recorded: %s",
							  *line ? line : *error ? error : "the profile is empty"),
			 "see to what is said above first; then 'slope record /bin/true' tells more");
	slope_profile_free(profile);
}

static void check_run(struct slope_checkup *c)
{
	char folder[512], line[256], self[] = "/proc/self/exe";
	char *file = scratch_file(folder, sizeof folder, "slope.data");

	c->name = "test run";
	if (!file) {
		conclude(c, SLOPE_HEALTH_BAD, slope_text("no temporary folder: %s", strerror(errno)),
			 "let TMPDIR name a folder that can be written");
		return;
	}
	char *argv[] = { self, "record", "--quiet", "-o", file, "/bin/true", NULL };
	int status = slope_program_ask(argv, line, sizeof line);

	judge_run(c, status, line, file);
	unlink(file);
	rmdir(folder);
	free(file);
}

size_t slope_machine_check(struct slope_checkup checkup[SLOPE_CHECKUPS_MAX], struct slope_events *events)
{
	struct slope_launcher launcher;
	size_t n = 0;

	slope_launcher_find(&launcher);
	char *obstacle = slope_observer_obstacle(&launcher, NULL, CELL_BYTES);
	enum slope_health without = without_valgrind(obstacle);

	check_system(&checkup[n++]);
	check_processor(&checkup[n++]);
	check_translator(&checkup[n++], &launcher, obstacle);
	slope_sampler_check(&checkup[n++], &launcher);
	slope_events_ask(events, &launcher, "");
	check_counters(&checkup[n++], events);
	check_valgrind(&checkup[n++], &launcher, without);
	check_tool(&checkup[n++], &launcher, without);
	check_memory(&checkup[n++]);
	check_disk(&checkup[n++]);
	check_debug_symbols(&checkup[n++]);
	check_cache(&checkup[n++]);
	check_gnuplot(&checkup[n++]);
	check_page(&checkup[n++]);
	check_run(&checkup[n++]);
	free(obstacle);
	slope_launcher_fini(&launcher);
	return n;
}
