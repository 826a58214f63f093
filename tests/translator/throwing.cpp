// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions: the unwinder reads return addresses, which must be the program's own.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Guard {
	int n;
	~Guard() { std::printf("left %d\n", n); }
};

static int dive(int n)
{
	Guard guard{n};
	if (n == 0)
		throw std::runtime_error("bottom");
	return dive(n - 1) + 1;
}

int main()
{
	for (int i = 0; i < 3; i++) {
		try {
			dive(4);
		} catch (const std::exception &e) {
			std::printf("%s\n", e.what());
		}
	}
	try {
		std::string(3, 'x').at(7);
	} catch (...) {
		std::puts("range");
	}
	return 0;
}
