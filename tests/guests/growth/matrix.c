/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The product of two k by k matrices takes k^3 steps and reads 2 k^2 cells: n^1.5
 * in its input. dot(), one row by one column, is linear; so are transpose() and
 * trace_of_all(), which read each cell once.
 */
#include "growth.h"

#define MOST 96

static float a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];

ALONE float dot(const float *row, const float *column, size_t k)
{
	float sum = 0;

	for (size_t i = 0; i < k; i++)
		sum += row[i] * column[i * k];
	return sum;
}

ALONE void multiply(float *out, const float *left, const float *right, size_t k)
{
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			out[i * k + j] = dot(left + i * k, right + j, k);
}

ALONE void transpose(float *out, const float *in, size_t k)
{
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			out[j * k + i] = in[i * k + j];
}

ALONE float add_all(const float *in, size_t k)
{
	float sum = 0;

	for (size_t i = 0; i < k * k; i++)
		sum += in[i];
	return sum;
}

int main(void)
{
	struct dice dice = { 11 };
	float sum = 0;

	EACH_SIZE(k, 3, MOST) {
		for (size_t i = 0; i < k * k; i++)
			a[i] = (float)(roll(&dice) % 10);
		transpose(b, a, k);
		multiply(c, a, b, k);
		sum += add_all(c, k);
	}
	printf("%.0f\n", (double)sum);
	return 0;
}
