// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions that pass frames: caught two frames up, with destructors on the way, thrown again, in loops.
#include <cstdio>
#include <stdexcept>

#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

struct guard {
	int a;

	KEEP ~guard() { sink = a & 1 ? a : -a; }
};

KEEP static int thrower(int n)
{
	if (n % 3 == 0)
		throw n;
	if (n % 7 == 5)
		throw std::runtime_error("seven");
	return n;
}

KEEP static int between(int n)
{
	int s = 0;

	for (int i = n; i < n + 3; i++) {
		guard g { i };

		s += thrower(i);
		if (s & 1)
			sink = s;
	}
	return s;
}

KEEP static int catcher(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		try {
			s += between(i);
		} catch (int e) {
			s += e & 1 ? 10 : 20;
		} catch (const std::exception &) {
			s -= 5;
			if (s < 0)
				s = 0;
		}
	}
	return s;
}

KEEP static int again(int n)
{
	try {
		return thrower(n);
	} catch (int e) {
		if (e > 6)
			throw;
		return -e;
	}
}

int main()
{
	int s = catcher(12);

	for (int i = 0; i < 11; i++) {
		try {
			s += again(i);
		} catch (int e) {
			s += 3 * e;
		} catch (...) {
			s ^= 1;
		}
	}
	std::printf("%d\n", s);
	return 0;
}
