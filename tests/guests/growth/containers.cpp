// SPDX-License-Identifier: GPL-3.0-or-later
//
// containers [front | list | map | heap]: C++. A vector that grows at the front moves everything each time, n^2; one
// that grows at the back is linear. Numbers are counted in a vector with std::find_if, n^2, and in a map, n log n.
// Each in a run of its own, and the map in memory of its own: what the allocator finds in its lists is input of
// whoever calls it. With `heap` the map's nodes come from there, and a call reads 1 to 6 cells a number, depending
// on what earlier ones left behind: then the curve in n is not what it is in the numbers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

#define ALONE __attribute__((noipa))

using Numbers = std::vector<int>;

ALONE Numbers grow_front(const Numbers &values)
{
	Numbers out;

	for (int value : values)
		out.insert(out.begin(), value);
	return out;
}

ALONE Numbers grow_back(const Numbers &values)
{
	Numbers out;

	for (int value : values)
		out.push_back(value);
	std::reverse(out.begin(), out.end());
	return out;
}

ALONE std::size_t count_in_list(const Numbers &values)
{
	std::vector<std::pair<int, int>> seen;

	for (int value : values) {
		auto at = std::find_if(seen.begin(), seen.end(), [value](const auto &s) { return s.first == value; });

		if (at == seen.end())
			seen.emplace_back(value, 1);
		else
			at->second++;
	}
	return seen.size();
}

ALONE std::size_t count_in_map(const Numbers &values)
{
	std::pmr::monotonic_buffer_resource memory;
	std::pmr::map<int, int> seen(&memory);

	for (int value : values)
		seen[value]++;
	return seen.size();
}

ALONE std::size_t count_on_heap(const Numbers &values)
{
	std::map<int, int> seen;

	for (int value : values)
		seen[value]++;
	return seen.size();
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "map";
	bool map = !std::strcmp(which, "map"), heap = !std::strcmp(which, "heap"), list = !std::strcmp(which, "list");
	std::size_t most = map || heap ? 16384 : 4096, sum = 0;
	std::uint64_t state = 20;

	for (std::size_t n = 8; n <= most; n += n / 8 + 1) {
		Numbers values;

		values.reserve(n);
		for (std::size_t i = 0; i < n; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			values.push_back(static_cast<int>(state >> 33));
		}
		if (map)
			sum += count_in_map(values);
		else if (heap)
			sum += count_on_heap(values);
		else if (list)
			sum += count_in_list(values);
		else
			sum += grow_front(values) == grow_back(values);
	}
	std::printf("%zu\n", sum);
	return 0;
}
