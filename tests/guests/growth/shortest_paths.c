/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All shortest paths in a graph of k nodes, Floyd and Warshall's way, in place in
 * the k^2 cells of the matrix: k^3 steps, n^1.5. relax(), one row over one node,
 * is linear.
 */
#include "growth.h"

#define MOST 96

static int distance[MOST * MOST];

ALONE void relax(int *row, const int *via, int to_via, size_t k)
{
	for (size_t j = 0; j < k; j++)
		if (to_via + via[j] < row[j])
			row[j] = to_via + via[j];
}

ALONE void shortest_paths(int *d, size_t k)
{
	for (size_t via = 0; via < k; via++)
		for (size_t i = 0; i < k; i++)
			relax(d + i * k, d + via * k, d[i * k + via], k);
}

ALONE int diameter(const int *d, size_t k)
{
	int most = 0;

	for (size_t i = 0; i < k * k; i++)
		if (d[i] > most)
			most = d[i];
	return most;
}

int main(void)
{
	struct dice dice = { 12 };
	long sum = 0;

	EACH_SIZE(k, 3, MOST) {
		for (size_t i = 0; i < k * k; i++)
			distance[i] = i % (k + 1) ? (int)(roll(&dice) % 1000) : 0;
		shortest_paths(distance, k);
		sum += diameter(distance, k);
	}
	printf("%ld\n", sum);
	return 0;
}
