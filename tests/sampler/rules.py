# SPDX-License-Identifier: GPL-3.0-or-later
"""rules.py MODULE: the unwind rules that readelf finds in it, one line per place, for rules.c."""
import re
import subprocess
import sys

REGISTERS = {name: i for i, name in enumerate("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split())}
SAVED = "rbx rbp r12 r13 r14 r15".split()
HEAD = re.compile(r"^\s+LOC\s")
RANGE = re.compile(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")

text = subprocess.run(["readelf", "--wide", "-wNF", sys.argv[1]], capture_output=True, text=True, check=False).stdout
columns, inside = [], False
for line in text.splitlines():
    if "FDE" in line or "CIE" in line:
        inside = RANGE.search(line) is not None
        continue
    if HEAD.match(line):
        columns = line.split()
        continue
    cells = line.split()
    if not inside or not columns or len(cells) != len(columns) or not re.match(r"^[0-9a-f]{16}$", cells[0]):
        continue
    row = dict(zip(columns, cells))
    cfa = re.match(r"^(r[a-z0-9]+)([+-]\d+)$", row["CFA"])
    if row.get("ra") == "u":
        kind, base, offset = "e", 0, 0
    elif cfa and row.get("ra") == "c-8":
        kind, base, offset = "f", REGISTERS[cfa.group(1)], int(cfa.group(2))
    else:
        kind, base, offset = "x", 0, 0
    saved = []
    for name in SAVED:
        rule = re.match(r"^c-(\d+)$", row.get(name, "u"))
        odd = row.get(name, "u") not in ("u", "s") and not rule
        saved.append(-1 if odd or (rule and int(rule.group(1)) >= 1024) else int(rule.group(1)) if rule else 0)
    print(row["LOC"], kind, base, offset, *saved)
