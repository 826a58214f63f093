# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the modules of a profile lay, and what their addresses belong to; from `readelf`."""

import os
import subprocess


class Module:
    def __init__(self, path, start):
        self.path, self.name = path, os.path.basename(path)
        self.sections = []       # (address, bytes, name, place in the file) of those with code
        text = subprocess.run(["readelf", "-hSlW", path], capture_output=True, text=True, env={"LC_ALL": "C"}).stdout
        segment = 0
        for line in text.splitlines():
            words = line.replace("[ ", "[").split()
            if len(words) > 7 and words[0][0] == "[" and words[2] == "PROGBITS" and "X" in words[7]:
                self.sections.append((int(words[3], 16), int(words[5], 16), words[1], int(words[4], 16)))
            elif words[:1] == ["LOAD"] and "E" in words[6:8]:
                segment = int(words[2], 16) & ~0xfff
        self.bias = 0 if "EXEC (Executable" in text else self._bias(start, segment)

    def _bias(self, start, segment):
        """`start` is where the code segment lay, or the section .text."""
        first = segment if start % 4096 == 0 else next((s[0] for s in self.sections if s[2] == ".text"), segment)
        return start - first

    def section(self, offset):
        """The name of the section with this address, or None."""
        return next((name for address, size, name, _ in self.sections if address <= offset < address + size), None)

    def code(self, offset, count):
        """Bytes of code at this address, from the file."""
        for address, size, _, place in self.sections:
            if address <= offset < address + size:
                with open(self.path, "rb") as file:
                    file.seek(place + offset - address)
                    return file.read(count)
        return b""


class Modules:
    def __init__(self, modules):
        self._modules = [Module(m["path"], m["start"]) for m in modules if os.path.exists(m["path"])]

    def has(self, start):
        """Is there a module whose name begins so?"""
        return any(m.name.startswith(start) for m in self._modules)

    def place(self, address):
        """(module's file name, offset, section) of a run-time address; Nones where it is in none."""
        for module in self._modules:
            if module.section(address - module.bias):
                return module.name, address - module.bias, module.section(address - module.bias)
        return None, None, None

    def jump_target(self, name, offset):
        """Where the direct jump at this address of that module goes; None if it is something else."""
        code = next((m.code(offset, 8) for m in self._modules if m.name == name), b"")
        prefixes = 1 if code[:1] in (b"\xf2", b"\x3e", b"\x2e") else 0
        code = code[prefixes:]
        if code[:1] == b"\xeb" or code[:1] and 0x70 <= code[0] <= 0x7f:
            length, distance = 2, code[1:2]
        elif code[:1] == b"\xe9":
            length, distance = 5, code[1:5]
        elif code[:1] == b"\x0f" and 0x80 <= code[1] <= 0x8f:
            length, distance = 6, code[2:6]
        else:
            return None
        return offset + prefixes + length + int.from_bytes(distance, "little", signed=True)

    def section(self, name, offset):
        return next((m.section(offset) for m in self._modules if m.name == name), None)
