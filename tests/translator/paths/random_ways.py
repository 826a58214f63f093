# SPDX-License-Identifier: GPL-3.0-or-later
"""Random C programs that take many ways: conditions, loops, switches, jumps back and forth, and calls, all bounded."""

import random

FUNCTIONS = 24
STATEMENTS = 7
FUEL = 1500                # rounds of loops and calls in the whole run
HEAD = """#include <stdio.h>
#define KEEP __attribute__((noinline, noclone))
static volatile unsigned sink;
static int fuel = %d;
""" % FUEL


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.labels, self.loops = [HEAD], 0, 0

    def put(self, depth, text):
        self.lines.append("\t" * depth + text)

    def condition(self):
        bit = 1 << self.random.randrange(3, 14)
        return self.random.choice(("x & %du" % bit, "!(x & %du)" % bit, "x %% %d == 1" % self.random.randrange(2, 6),
                                   "(x >> 3) > y", "(x & %du) && (y & 1)" % bit, "(x & %du) || y %% 3 == 2" % bit))

    def block(self, depth, level, function):
        for _ in range(self.random.randrange(1, 3 if level else STATEMENTS)):
            self.statement(depth, level, function)

    def statement(self, depth, level, function):
        kinds = ["step", "step", "branch", "store"] + (["branch", "loop", "switch", "again", "call", "leave"] if level < 3 else [])
        getattr(self, self.random.choice(kinds))(depth, level, function)

    def step(self, depth, _level, _function):
        self.put(depth, "x = x * 1103515245u + %du; y ^= x >> %d;" % (self.random.randrange(1, 99999), self.random.randrange(4, 20)))

    def store(self, depth, _level, _function):
        self.put(depth, "sink = x + %d;" % self.random.randrange(99))

    def branch(self, depth, level, function):
        self.put(depth, "if (%s) {" % self.condition())
        self.block(depth + 1, level + 1, function)
        if self.random.random() < 0.6:
            self.put(depth, "} else {")
            self.block(depth + 1, level + 1, function)
        self.put(depth, "}")

    def loop(self, depth, level, function):
        self.loops += 1
        name = "i%d" % self.loops
        self.put(depth, "for (unsigned %s = 0; %s < (y & %d) && fuel-- > 0; %s++) {" % (name, name, self.random.choice((1, 3, 7)), name))
        self.block(depth + 1, level + 1, function)
        if self.random.random() < 0.3:
            self.put(depth + 1, "if (%s) %s;" % (self.condition(), self.random.choice(("break", "continue"))))
        self.put(depth, "}")

    def switch(self, depth, level, function):
        cases = self.random.randrange(3, 12)
        self.put(depth, "switch ((x >> 5) %% %d) {" % (cases + self.random.randrange(3)))
        for case in range(cases):
            self.put(depth, "case %d:" % case)
            self.statement(depth + 1, level + 1, function)
            if self.random.random() < 0.8:
                self.put(depth + 1, "break;")
        self.put(depth, "default: sink = 1;")
        self.put(depth, "}")

    def again(self, depth, level, function):
        """A jump back, out of whatever is inside."""
        self.labels += 1
        name = "again%d" % self.labels
        self.put(0, name + ":")
        self.step(depth, level, function)
        self.branch(depth, level + 1, function)
        self.put(depth, "if (fuel-- > 0 && %s) goto %s;" % (self.condition(), name))

    def call(self, depth, _level, function):
        if function:
            self.put(depth, "if (fuel-- > 0) x += f%d(x, y + 1);" % self.random.randrange(function))

    def leave(self, depth, _level, _function):
        self.put(depth, "if (%s) return x + 1;" % self.condition())

    def function(self, number):
        self.put(0, "KEEP static unsigned f%d(unsigned x, unsigned y)\n{" % number)
        for _ in range(STATEMENTS):
            self.statement(1, 0, number)
        if number and self.random.random() < 0.4:
            self.put(1, "return f%d(x ^ y, x);" % self.random.randrange(number))       # jumped to, with optimisation
        self.put(1, "return x ^ y;\n}")

    def text(self):
        for number in range(FUNCTIONS):
            self.function(number)
        self.put(0, "int main(void)\n{\n\tunsigned s = 1;\n")
        for number in range(FUNCTIONS):
            self.put(1, "for (unsigned i = 0; i < 4; i++) { fuel = %d; s += f%d(s * 7919u + i, i); }" % (FUEL // FUNCTIONS, number))
        self.put(1, 'printf("%u\\n", s);\n\treturn 0;\n}')
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Writer(seed).text()
