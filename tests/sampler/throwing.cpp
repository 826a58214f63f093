// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions through many activations: caught far above, thrown again, in destructors' way, in threads.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

struct Held {
	std::vector<int> some;
	long *count;
	explicit Held(long *c) : some(10), count(c) {}
	~Held() { ++*count; }
};

__attribute__((noinline)) static int sink(int n, long *count)
{
	Held held(count);
	if (n == 0)
		throw std::runtime_error("bottom");
	held.some[0] = sink(n - 1, count);
	return held.some[0] + 1;
}

__attribute__((noinline)) static int again(int n, long *count)
{
	try {
		return sink(n, count);
	} catch (std::logic_error &) {
		return 0;
	} catch (std::runtime_error &) {
		throw;
	}
}

static long run(int times)
{
	long sum = 0, count = 0;

	for (int i = 0; i < times; i++) {
		try {
			sum += again(i % 40, &count);
		} catch (std::exception &e) {
			sum += e.what()[0];
		}
	}
	return sum * 1000003 + count;
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	long result[4];
	int times = argc > 1 ? atoi(argv[1]) : 1;

	printf("%ld\n", run(12000 * times));
	for (int t = 0; t < 4; t++)
		threads.emplace_back([t, times, &result] { result[t] = run(3000 * times + t); });
	for (auto &t : threads)
		t.join();
	for (long r : result)
		printf("%ld\n", r);
}
