# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that the sampler is measured with.

Real ones from Debian's packages, most of which make many calls: two to four
seconds each on a machine of today, so that start and end do not decide. All
print a result, which must be the native one. And some that can be built with
and without -pg, for gprof: bzip2 and Lua from Debian's source packages where
they can be had, or else guests of tests/sampler alone.
"""
import glob
import os
import shutil
import subprocess
import sys

import programs
import runs

GUESTS = os.path.join(runs.ROOT, "tests/sampler")

LUA_CALLS = """local n = tonumber(arg[1])
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local function tak(x, y, z) if y >= x then return z end return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) end
local function deep(k) if k == 0 then return 0 end return 1 + deep(k - 1) end
local sum = 0
for i = 1, n do sum = sum + fib(20) + tak(10, 6, 3) + deep(150) end
print(sum)
"""

PYTHON_CALLS = """import sys
sys.setrecursionlimit(5000)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def tak(x, y, z): return z if y >= x else tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
def deep(n): return 0 if n == 0 else max(1 + deep(n - 1), 0)
print(sum(fib(16) + tak(8, 5, 2) + deep(900) for _ in range(int(sys.argv[1]))))
"""


class Program(programs.Program):
    """`profiled`: the same, built with -pg; None: it cannot be had. `built`: it is there for that alone."""

    def __init__(self, name, command, stdin=None, threads=False, profiled=None, built=False):
        super().__init__(name, command, stdin, threads)
        self.profiled, self.built = profiled, built


def write(path, text):
    with open(path, "w") as out:
        out.write(text)
    return path


def inputs(folder, scale):
    """Paths by name. Text is the same four megabytes again and again: they are longer than what bzip2 and gawk look at."""
    def at(name):
        return os.path.join(folder, name)
    some = programs.text(4_000_000)
    for name, megabytes in ("bzip2", 32), ("gawk", 28), ("pigz", 40), ("sort", 16):
        size = int(megabytes * 1_000_000 * scale)
        whole = (some * (size // len(some) + 1))[:size]
        write(at(name + ".text"), whole.replace(" ", "\n") if name == "sort" else whole)
    programs.xml(at("catalogue.xml"), int(520_000 * scale))
    programs.sql(at("queries.sql"), int(450_000 * scale))
    for name, text in ("calls.lua", LUA_CALLS), ("calls.py", PYTHON_CALLS), ("work.awk", programs.GAWK):
        write(at(name), text)
    return at


def installed(at, scale):
    every = [
        Program("bzip2", ["bzip2", "-c", at("bzip2.text")]),
        Program("gawk", ["gawk", "-f", at("work.awk"), at("gawk.text")]),
        Program("lua-calls", ["lua5.4", at("calls.lua"), str(int(6500 * scale))]),
        Program("python3-calls", ["/usr/bin/python3", "-S", "-E", at("calls.py"), str(int(8000 * scale))]),
        Program("sort", ["sort", "--parallel=1", "-S", "400M", "-f", at("sort.text")]),
        Program("sqlite3", ["sqlite3", ":memory:"], stdin=at("queries.sql")),
        Program("xmllint", ["xmllint", "--format", at("catalogue.xml")]),
        Program("pigz-threads", ["pigz", "-p4", "-n", "-c", at("pigz.text")], threads=True),
    ]
    there = [p for p in every if shutil.which(p.command[0])]
    for p in every:
        if p not in there:
            print("left out, not installed: %s (scripts/setup bench)" % p.name, file=sys.stderr)
    return there


def compile_both(folder, name, sources, *options):
    """Paths of the program as it is and with -pg; None where it cannot be compiled."""
    compiler = "g++" if sources[0].endswith(".cpp") else "gcc"
    made = []
    for more in [], ["-pg"]:
        to = os.path.join(folder, name + ("-pg" if more else ""))
        done = subprocess.run([compiler, "-O2", "-g", "-w", "-pthread", *more, "-o", to, *sources, *options], check=False,
                              capture_output=True, text=True)
        if done.returncode:
            print("bench/sampler: %s cannot be compiled: %s" % (name, done.stderr.strip()[-200:]), file=sys.stderr)
            return None
        made.append(to)
    return made


def debian_sources(folder, packages):
    """Fetches source packages, in files of our own: nothing of the system is changed. False without them, or without a net."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-source"):
        return False
    os.makedirs(os.path.join(folder, "lists/partial"))
    release = next((line.split("=")[1].strip() for line in open("/etc/os-release") if line.startswith("VERSION_CODENAME=")), "stable")
    write(os.path.join(folder, "sources.list"), "deb-src http://deb.debian.org/debian %s main\n" % release)
    own = ["-qq", "-o", "Dir::Etc::SourceList=%s/sources.list" % folder, "-o", "Dir::Etc::SourceParts=/dev/null",
           "-o", "Dir::State::Lists=%s/lists" % folder]
    for words in ["update"], ["source", *packages]:
        try:
            if subprocess.run(["apt-get", *own, *words], cwd=folder, capture_output=True, check=False, timeout=120).returncode:
                return False
        except subprocess.TimeoutExpired:
            return False
    return True


def from_source(folder, at, scale):
    """bzip2 and Lua with a profiled twin; [] and a word where their sources cannot be had."""
    if not debian_sources(folder, ["bzip2", "lua5.4"]):
        print("bench/sampler: no source packages to be had: gprof only on guests", file=sys.stderr)
        return []
    bzip2 = ["%s/%s.c" % (glob.glob(folder + "/bzip2-*/")[0], part) for part in
             ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2")]
    lua = [p for p in glob.glob(folder + "/lua5.4-*/src/*.c") if os.path.basename(p) != "luac.c"]
    found = []
    write(os.path.join(folder, "lua5.4-deb-multiarch.h"), '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
    for name, sources, options, rest in (
            ("built-bzip2", bzip2, ["-D_FILE_OFFSET_BITS=64"], ["-c", at("bzip2.text")]),
            ("built-lua-calls", lua, ["-I" + folder, "-DLUA_USE_LINUX", "-Wl,-E", "-lm", "-ldl"], [at("calls.lua"), str(int(6500 * scale))])):
        both = compile_both(folder, name, sources, *options)
        if both:
            found.append(Program(name, [both[0], *rest], profiled=[both[1], *rest], built=True))
    return found


def guests(folder, scale):
    """With a profiled twin, too."""
    found = []
    for name, source, words, threads in (("exceptions", "throwing.cpp", [str(max(1, round(7 * scale)))], True),
                                         ("recursion", "deepest.c", ["100", str(int(5_000_000 * scale)), "1"], False)):
        both = compile_both(folder, source.split(".")[0], [os.path.join(GUESTS, source)])
        if both:
            found.append(Program(name, [both[0], *words], threads=threads, profiled=[both[1], *words]))
    return found


def all_programs(folder, scale, built=True):
    """Those from packages, then those with a profiled twin."""
    at = inputs(folder, scale)
    return installed(at, scale) + guests(folder, scale) + (from_source(folder, at, scale) if built else [])
