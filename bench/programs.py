# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the benchmarks, and the inputs they work on.

Every program comes from a Debian package and runs 0.2 to 0.5 s natively at
scale 1. Inputs are generated, the same bytes every time; all programs print
their result to standard output, so that a profiled run can be compared with
the native one byte by byte.
"""
import array
import itertools
import math
import os
import random
import shutil
import subprocess
import sys
import wave

WORDS = 6000
TEXTS = {"text-bzip2": 4.2, "text-xz": 1.2, "text-gawk": 5.5, "text-pigz": 6, "text-threads": 2}  # MB


def text(size):
    """Lines of words with frequencies as in a language: few common, many rare."""
    rnd = random.Random(1)
    vowels, consonants = "aeiou", "bcdfghklmnprstvw"
    vocabulary = ["".join(rnd.choice(consonants) + rnd.choice(vowels) for _ in range(1 + i % 5)) for i in range(WORDS)]
    weights = list(itertools.accumulate(1 / (i + 3) for i in range(WORDS)))
    lines = []
    while size > 0:
        line = " ".join(rnd.choices(vocabulary, cum_weights=weights, k=12)) + " %d.\n" % rnd.randrange(100000)
        lines.append(line)
        size -= len(line)
    return "".join(lines)


def xml(path, items):
    rnd = random.Random(2)
    with open(path, "w") as out:
        out.write('<?xml version="1.0"?>\n<catalogue>\n')
        for i in range(items):
            out.write('<item id="i%d" group="%d"><name>part %d &amp; spare</name><price unit="eur">%d.%02d</price>'
                      '<note><![CDATA[%s]]></note></item>\n'
                      % (i, rnd.randrange(50), i, rnd.randrange(900), rnd.randrange(100), "x" * rnd.randrange(60)))
        out.write("</catalogue>\n")


def sound(path, seconds):
    rnd = random.Random(3)
    rate = 44100
    samples = array.array("h")
    for i in range(int(seconds * rate)):
        tone = math.sin(i * 0.031) + 0.5 * math.sin(i * 0.0173 * (1 + i / 400000)) + 0.1 * rnd.random()
        left = int(9000 * tone)
        samples.extend((left, int(left * 0.8 + 400 * math.sin(i * 0.11))))
    with wave.open(path, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())


def sql(path, rows):
    with open(path, "w") as out:
        out.write("PRAGMA journal_mode=OFF;\nCREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, name TEXT);\n"
                  "BEGIN;\nWITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)\n"
                  "INSERT INTO t SELECT i, (i * 7919) %% 10007, 'name' || ((i * 31) %% 997) FROM c;\nCOMMIT;\n"
                  "CREATE INDEX by_k ON t(k);\n"
                  "SELECT name, count(*), sum(k) FROM t GROUP BY name ORDER BY 3 DESC LIMIT 10;\n"
                  "SELECT count(*) FROM t a JOIN t b ON a.k = b.k + 1 WHERE a.id %% 3 = 0;\n"
                  "SELECT length(group_concat(name)) FROM t WHERE name LIKE '%%7%%';\n" % rows)


def c_source(path, functions):
    """Plain C without includes: what is left after preprocessing."""
    rnd = random.Random(4)
    with open(path, "w") as out:
        out.write("struct node { struct node *next; int key, weight; double share; };\n")
        for i in range(functions):
            a, b, c = (rnd.randrange(3, 99) for _ in range(3))
            out.write("int f%d(struct node *list, const int *v, int n)\n{\n"
                      "\tint best = %d, i;\n\tfor (i = 0; i < n; i++) {\n"
                      "\t\tif (v[i] %% %d == 0 && v[i] > best)\n\t\t\tbest = v[i] * %d + i;\n"
                      "\t\telse switch (v[i] & 7) {\n\t\tcase 1: best ^= i; break;\n\t\tcase 3: best += v[i / 2]; break;\n"
                      "\t\tcase 6: best -= %d; break;\n\t\tdefault: best++;\n\t\t}\n\t}\n"
                      "\tfor (; list; list = list->next)\n\t\tif (list->key == best)\n"
                      "\t\t\tlist->share = list->weight / (1.0 + best);\n"
                      "\treturn best%s;\n}\n" % (i, a, b, c, a, " + f%d(list, v, n / 2)" % (i - 1) if i and i % 2 == 0 else ""))


LUA = """local n = tonumber(arg[1])
local words, seed = {}, 42
local function rnd(m) seed = (seed * 16807) % 2147483647; return seed % m end
for i = 1, n do words[i] = string.format("%05d:%s", rnd(99999), string.rep("ab", rnd(6))) end
table.sort(words)
local count = {}
for _, w in ipairs(words) do local k = w:match(":(.*)"); count[k] = (count[k] or 0) + #w end
local keys = {}
for k in pairs(count) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do print(k, count[k]) end
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
print(fib(22))
"""

PYTHON = """import json, re, sys
n = int(sys.argv[1])
class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None
    def insert(self, key):
        node = self
        while node.key != key:
            side = 'left' if key < node.key else 'right'
            below = getattr(node, side)
            if below is None:
                setattr(node, side, Node(key))
                return
            node = below
    def depth(self):
        return 1 + max((c.depth() for c in (self.left, self.right) if c), default=0)
root, x = Node(500), 1
for i in range(n):
    x = x * 16807 % 2147483647
    root.insert(x % 100000)
rows = [{'id': i, 'name': 'n%d' % (i * 31 % 97), 'v': [i, i * i]} for i in range(n // 4)]
back = json.loads(json.dumps(rows))
print(root.depth(), len(back), len(re.findall(r'n(\\d)\\b', ' '.join(r['name'] for r in back))))
print(sorted(((r['name'], r['v'][1]) for r in back), reverse=True)[:5])
"""

GAWK = """{ for (i = 1; i <= NF; i++) { w = tolower($i); gsub(/[^a-z]/, "", w); n[w]++; len += length(w) } }
END { PROCINFO["sorted_in"] = "@val_num_desc"; for (w in n) { print n[w], w; if (++k == 20) break } print len }"""


class Program:
    """One row of the tables: a command line, its input on stdin if any, and whether it has threads."""

    def __init__(self, name, command, stdin=None, threads=False):
        self.name, self.command, self.stdin, self.threads = name, command, stdin, threads


def cc1_path():
    found = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=False).stdout.strip()
    return found if os.path.isabs(found) else None


def make_inputs(folder, scale):
    def at(name):
        return os.path.join(folder, name)
    whole = text(int(10_000_000 * scale))
    for name, megabytes in TEXTS.items():
        with open(at(name), "w") as out:
            out.write(whole[:int(megabytes * 1_000_000 * scale)])
    with open(at("words"), "w") as out:
        out.write(whole[:int(6_000_000 * scale)].replace(" ", "\n"))
    xml(at("catalogue.xml"), int(70_000 * scale))
    sound(at("sound.wav"), 8 * scale)
    sql(at("queries.sql"), int(200_000 * scale))
    c_source(at("unit.i"), max(2, int(40 * scale)))
    for name, body in (("work.lua", LUA), ("work.py", PYTHON), ("work.awk", GAWK)):
        with open(at(name), "w") as out:
            out.write(body)


def programs(folder, scale):
    """All programs, inputs made; those whose package is missing are left out with a word on stderr."""
    make_inputs(folder, scale)

    def at(name):
        return os.path.join(folder, name)
    every = [
        Program("bzip2", ["bzip2", "-c", at("text-bzip2")]),
        Program("xz", ["xz", "-6", "-T1", "-c", at("text-xz")]),
        Program("sqlite3", ["sqlite3", ":memory:"], stdin=at("queries.sql")),
        Program("lua5.4", ["lua5.4", at("work.lua"), str(int(220_000 * scale))]),
        Program("gawk", ["gawk", "-f", at("work.awk"), at("text-gawk")]),
        Program("sort", ["sort", "--parallel=1", "-S", "100M", "-f", at("words")]),
        Program("xmllint", ["xmllint", "--format", at("catalogue.xml")]),
        Program("lame", ["lame", "--quiet", "-h", at("sound.wav"), "-"]),
        Program("python3", ["/usr/bin/python3", "-S", "-E", at("work.py"), str(int(90_000 * scale))]),
        Program("cc1", [cc1_path() or "cc1", "-quiet", "-O2", "-fpreprocessed", at("unit.i"), "-o", "-"]),
        Program("pigz -p4", ["pigz", "-p4", "-n", "-c", at("text-pigz")], threads=True),
        Program("xz -T2", ["xz", "-3", "-T2", "--block-size=%d" % max(4096, int(200_000 * scale)), "-c", at("text-threads")],
                threads=True),
    ]
    there = [p for p in every if shutil.which(p.command[0])]
    for p in every:
        if p not in there:
            print("left out, not installed: %s (scripts/setup bench)" % p.name, file=sys.stderr)
    return there
