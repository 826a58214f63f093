# SPDX-License-Identifier: GPL-3.0-or-later
"""Running programs under tools and measuring them; what the benchmarks share.

A tool is a prefix for a command line. Rounds go round all tools before the
next one begins, so that a slow minute of the machine hits all alike. Every
run's output and exit status must equal those of the first native run.
"""
import hashlib
import math
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "PYTHONHASHSEED": "0"}
VALGRIND = ["valgrind", "-q", "--vgdb=no"]
REFUSED = 70        # the translator's exit status where it cannot go on
SHORT = {"nulgrind": "nul", "memcheck": "mem", "callgrind": "call", "valgrind-rms": "vg", "valgrind-trms": "vg"}


class Sample:
    """One run: processor seconds, wall seconds, peak kilobytes."""

    def __init__(self, line):
        user, system, wall, peak, _ = (int(x) for x in line.split())
        self.cpu, self.wall, self.peak = (user + system) / 1e6, wall / 1e6, peak


class Bench:
    """A working folder, the measuring helper, and the native results to compare with."""

    def __init__(self, build, folder):
        self.slope = os.path.join(os.path.abspath(os.path.join(ROOT, build)), "slope")
        self.translator = os.path.join(os.path.dirname(self.slope), "sources/translator/slope-translator")
        self.folder, self.native, self.wrong, self.refused = folder, {}, [], {}
        # Source lines are kept between runs, as they are for a user.
        self.environment = dict(ENVIRONMENT, SLOPE_CACHE=os.path.join(os.path.abspath(folder), "cache"))
        self.measure = os.path.join(folder, "measure")
        subprocess.run(["gcc", "-O2", "-o", self.measure, os.path.join(ROOT, "bench/measure.c")], check=True)

    def tools(self):
        """Command line prefixes by name."""
        data = "-o", os.path.join(self.folder, "slope.data")
        record = [self.slope, "record", "--quiet", "--source=valgrind", *data]
        return {
            "native": [],
            "nulgrind": VALGRIND + ["--tool=none"],
            "memcheck": VALGRIND + ["--tool=memcheck", "--leak-check=no"],
            "callgrind": VALGRIND + ["--tool=callgrind", "--callgrind-out-file=" + os.path.join(self.folder, "callgrind")],
            "rms": record + ["--input=rms", "--"],
            "trms": record + ["--input=trms", "--"],
            "rms-tool": record + ["--no-symbols", "--input=rms", "--"],
            "trms-tool": record + ["--no-symbols", "--input=trms", "--"],
        }

    def translator_tools(self):
        """The same for the translator: alone, and recording. The first takes commands with their path only."""
        record = [self.slope, "record", "--quiet", "--source=translator", "-o", os.path.join(self.folder, "slope.data")]
        return {
            "null": [self.translator, "--"],
            "rms": record + ["--input=rms", "--"],
            "trms": record + ["--input=trms", "--"],
            "rms-tool": record + ["--no-symbols", "--input=rms", "--"],
            "trms-tool": record + ["--no-symbols", "--input=trms", "--"],
        }

    def run(self, program, prefix, tool):
        """A Sample, or None when the run was wrong or refused (which is kept in self.wrong and self.refused)."""
        result = os.path.join(self.folder, "result")
        with open(program.stdin or os.devnull, "rb") as stdin:
            done = subprocess.run([self.measure, result, *prefix, *program.command], stdin=stdin, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, cwd=self.folder)
        seen = done.returncode, hashlib.sha256(done.stdout).hexdigest()
        if seen != self.native.setdefault(program.name, seen):
            words = done.stderr.decode(errors="replace").strip().splitlines()
            if done.returncode == REFUSED and words and "--source=valgrind" in words[-1]:
                self.refused[program.name, tool] = words[-1]
                return None
            self.wrong.append("%s under %s: output or exit status %d differs from native%s"
                              % (program.name, tool, seen[0], ": " + words[-1] if words else ""))
            return None
        with open(result) as line:
            return Sample(line.read())


def rounds(bench, programs, tools, count):
    """{program name: {tool: [Sample]}}; the native run comes first in every round."""
    samples = {p.name: {t: [] for t in tools} for p in programs}
    for number in range(count):
        for program in programs:
            for tool, prefix in tools.items():
                progress("round %d of %d: %s under %s" % (number + 1, count, program.name, tool))
                sample = bench.run(program, prefix, tool)
                if sample:
                    samples[program.name][tool].append(sample)
    progress("")
    return samples


def progress(words):
    if sys.stderr.isatty():
        print("\r\033[K" + words, end="", file=sys.stderr, flush=True)


def choose(names, wanted, what):
    """The wanted ones of the names, all of them without a wish."""
    if wanted is None:
        return list(names)
    unknown = [w for w in wanted.split(",") if w not in names]
    if unknown:
        sys.exit("%s: no %s '%s'; there are: %s" % (os.path.relpath(sys.argv[0], ROOT), what, unknown[0], ", ".join(names)))
    return [n for n in names if n in wanted.split(",")]


def minimum(samples, field):
    """The smallest of one field, or None without samples."""
    return min((getattr(s, field) for s in samples), default=None)


def median(samples, field):
    """The median of one field, or None without samples."""
    values = [getattr(s, field) for s in samples]
    return statistics.median(values) if values else None


def ratio(a, b):
    return a / b if a is not None and b else None


def geomean(values):
    """Of the values that are there; None if none is."""
    there = [v for v in values if v]
    return math.exp(sum(map(math.log, there)) / len(there)) if there else None


def table(title, columns, rows):
    """Prints rows of (name, [number or None or text])."""
    print("\n" + title)
    widths = [max(len(c) + 1, 9) for c in columns]
    print("%-22s" % "" + "".join("%*s" % (w, c) for w, c in zip(widths, columns)))
    for name, values in rows:
        cells = ("-" if v is None else v if isinstance(v, str) else "%.2f" % v for v in values)
        print("%-22s" % name + "".join("%*s" % (w, c) for w, c in zip(widths, cells)))


def means(chosen, value):
    """Rows of geometric means over groups of programs; value(program) -> list of ratios."""
    groups = (("geomean, one thread", [p for p in chosen if not p.threads]),
              ("geomean, threads", [p for p in chosen if p.threads]),
              ("geomean, all", chosen))
    for name, members in groups:
        if members:
            yield name, [geomean(column) for column in zip(*map(value, members))]


def ratio_table(title, chosen, results, pairs):
    """
    One column per pair (tool, base): the tool's result divided by the base's.
    Returns the means over all programs by pair, None where a program is missing.
    """
    def value(program):
        row = results[program.name]
        return [ratio(row.get(tool), row.get(base)) for tool, base in pairs]
    rows = [(p.name, value(p)) for p in chosen] + list(means(chosen, value))
    columns = [tool if base == "native" else "%s/%s" % (tool, SHORT[base]) for tool, base in pairs]
    table(title, columns, rows)
    whole = [None not in column for column in zip(*map(value, chosen))]
    return {pair: mean if all_there else None for pair, mean, all_there in zip(pairs, rows[-1][1], whole)}
