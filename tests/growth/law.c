/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/growth/law.h"

#include <math.h>
#include <stdio.h>

static double ceil_log2(double n)
{
	double steps = 0;

	for (double size = 1; size < n; size *= 2)
		steps++;
	return steps;
}

static double flat(double n)
{
	return 42 + fmod(n, 2);
}

static double sawtooth(double n)
{
	return 200 + fmod(n, 7);
}

static double binary_search(double n)
{
	return 12 * ceil_log2(n + 1) + 9;
}

static double trial_division(double n)
{
	return 5 * floor(sqrt(n)) + 4;
}

static double unrolled_sum(double n)
{
	return 3 * floor(n / 4) + 2 * fmod(n, 4) + 10;
}

static double vector_copy(double n)
{
	return 25 + floor(n / 8) + (fmod(n, 8) ? 6 : 0);
}

/* An array that doubles whenever it is full, and copies itself each time. */
static double doubling_array(double n)
{
	double copied = 0;

	for (double size = 4; size < n; size *= 2)
		copied += size;
	return 10 * n + 3 * copied + 60 * ceil_log2(n);
}

static double radix_sort(double n)
{
	return 4 * (11 * n + 512) + 30;
}

static double linear_and_root(double n)
{
	return 8 * n + floor(30 * sqrt(n));
}

static double merge_comparisons(double n)
{
	double levels = ceil_log2(n);

	return n * levels - exp2(levels) + 1;
}

static double merge_sort(double n)
{
	return 9 * merge_comparisons(n) + 14 * n + 20;
}

static double linearithmic_with_linear(double n)
{
	return floor(n * log2(n)) + 7 * n;
}

/* Pushes that sift up and pops that sift down, each as deep as the heap is. */
static double heap_sort(double n)
{
	return floor(14 * n * fmax(floor(log2(n)) - 1, 1)) + 12 * n + 8;
}

/* Input of n cells: two square matrices of m by m. */
static double matrix_product(double n)
{
	double m = floor(sqrt(n / 2));

	return 5 * m * m * m + 8 * m * m + 6 * m + 11;
}

static double insertion_sort(double n)
{
	return 4 * n * (n - 1) / 2 + 6 * n + 5;
}

static double quadratic_with_linear(double n)
{
	return n * n + 50 * n;
}

static double late_quadratic(double n)
{
	return (n - 18) * (n - 18) + 3;
}

/* A sort for every element. */
static double sorts(double n)
{
	return n * merge_comparisons(n) + 12 * n;
}

static double triples(double n)
{
	return 7 * n * (n - 1) * (n - 2) / 6 + 5 * n * n;
}

static double matrix_by_side(double n)
{
	return 5 * n * n * n + 8 * n * n + 6 * n + 11;
}

static double towers(double n)
{
	return 14 * (exp2(n) - 1) + 6;
}

/* Calls of the naive recursion, times what each costs. */
static double fibonacci(double n)
{
	double a = 1, b = 1;

	for (double i = 1; i < n; i++) {
		double next = a + b + 1;

		a = b;
		b = next;
	}
	return 9 * b;
}

#define SIZES_MOST 1e7

const struct exact_law exact_laws[] = {
	{ "42 + n % 2", { 0, 0, 0 }, flat, 1, SIZES_MOST },
	{ "200 + n % 7", { 0, 0, 0 }, sawtooth, 1, SIZES_MOST },
	{ "binary search", { 0, 1, 0 }, binary_search, 1, SIZES_MOST },
	{ "trial division", { 0.5, 0, 0 }, trial_division, 2, SIZES_MOST },
	{ "sum, unrolled by 4", { 1, 0, 0 }, unrolled_sum, 1, SIZES_MOST },
	{ "copy, 8 at a time", { 1, 0, 0 }, vector_copy, 8, SIZES_MOST },
	{ "array that doubles", { 1, 0, 0 }, doubling_array, 1, SIZES_MOST },
	{ "radix sort", { 1, 0, 0 }, radix_sort, 1, SIZES_MOST },
	{ "8 n + 30 sqrt n", { 1, 0, 0 }, linear_and_root, 1, SIZES_MOST },
	{ "merge sort's comparisons", { 1, 1, 0 }, merge_comparisons, 4, SIZES_MOST },
	{ "merge sort", { 1, 1, 0 }, merge_sort, 2, SIZES_MOST },
	{ "n log n + 7 n", { 1, 1, 0 }, linearithmic_with_linear, 2, SIZES_MOST },
	{ "heap sort", { 1, 1, 0 }, heap_sort, 2, SIZES_MOST },
	{ "matrix product, n cells", { 1.5, 0, 0 }, matrix_product, 8, SIZES_MOST },
	{ "insertion sort, worst case", { 2, 0, 0 }, insertion_sort, 2, 1e6 },
	{ "n^2 + 50 n", { 2, 0, 0 }, quadratic_with_linear, 1, 1e6 },
	{ "(n - 18)^2", { 2, 0, 0 }, late_quadratic, 19, 1e6 },
	{ "n merge sorts", { 2, 1, 0 }, sorts, 4, 1e6 },
	{ "triples", { 3, 0, 0 }, triples, 4, 3e4 },
	{ "matrix product, n by n", { 3, 0, 0 }, matrix_by_side, 1, 3e4 },
	{ "towers of Hanoi", { 0, 0, 2 }, towers, 1, 40 },
	{ "naive Fibonacci", { 0, 0, 1.618 }, fibonacci, 2, 60 },
};
const size_t exact_laws_count = sizeof(exact_laws) / sizeof(*exact_laws);

double law_order_at(struct slope_order order, double n)
{
	double value = order.base ? pow(order.base, n) : pow(n, order.power);

	for (unsigned i = 0; i < order.logs; i++)
		value *= log2(n);
	return value;
}

double law_at(const struct law *law, double n)
{
	if (law->exact)
		return law->constant + law->factor * law->exact->steps(n);
	if (n < law->broken_at)
		return law->constant + law->factor_below * law_order_at(law->below, n);
	return law->constant + law->factor * law_order_at(law->truth, n);
}

bool law_looks_constant(const struct law *law, double from, double to)
{
	double bottom = law_at(law, from), top = law_at(law, to);

	return !law->broken_at && top - bottom < 0.05 * top;
}

char *law_text(const struct law *law, char text[LAW_TEXT])
{
	char order[SLOPE_ORDER_TEXT], below[SLOPE_ORDER_TEXT];

	if (law->exact)
		snprintf(text, LAW_TEXT, "%.3g * (%s)", law->factor, law->exact->text);
	else if (law->broken_at)
		snprintf(text, LAW_TEXT, "%.3g * %s from %.0f on, below %.3g * %s", law->factor,
			 slope_order_text(law->truth, order), law->broken_at, law->factor_below,
			 slope_order_text(law->below, below));
	else
		snprintf(text, LAW_TEXT, "%.3g + %.3g * %s", law->constant, law->factor,
			 slope_order_text(law->truth, order));
	return text;
}
