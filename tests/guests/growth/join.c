/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small database. Orders are joined with customers: join_nested() compares each
 * with each, n^2; join_hashed() makes a table of the customers first, linear. Around
 * them what programs do: rows are written, filtered, grouped and added up, all linear.
 */
#include "growth.h"

#define MOST 8192
#define GROUPS 16

struct customer {
	int id, country;
};

struct order {
	int customer, amount;
};

static struct customer customers[MOST];
static struct order orders[MOST];
static int table[4 * MOST];

ALONE void load(struct customer *c, struct order *o, size_t n, struct dice *dice)
{
	for (size_t i = 0; i < n; i++) {
		c[i] = (struct customer){ (int)(i * 7 + 1), (int)(roll(dice) % GROUPS) };
		o[i] = (struct order){ (int)(roll(dice) % n * 7 + 1), (int)(roll(dice) % 100) };
	}
}

ALONE const struct customer *scan(const struct customer *c, size_t n, int id)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].id == id)
			return &c[i];
	return NULL;
}

ALONE long join_nested(const struct customer *c, const struct order *o, size_t n, long *group)
{
	long matched = 0;

	for (size_t i = 0; i < n; i++) {
		const struct customer *found = scan(c, n, o[i].customer);

		if (found) {
			group[found->country] += o[i].amount;
			matched++;
		}
	}
	return matched;
}

static size_t slot_of(int id, size_t size)
{
	return (uint32_t)id * 2654435761u % size;
}

ALONE void make_table(const struct customer *c, size_t n, int *slot, size_t size)
{
	memset(slot, 0, size * sizeof(*slot));
	for (size_t i = 0; i < n; i++) {
		size_t at = slot_of(c[i].id, size);

		while (slot[at])
			at = (at + 1) % size;
		slot[at] = (int)i + 1;
	}
}

ALONE long join_hashed(const struct customer *c, const struct order *o, size_t n, long *group)
{
	size_t size = 4 * n;
	long matched = 0;

	make_table(c, n, table, size);
	for (size_t i = 0; i < n; i++)
		for (size_t at = slot_of(o[i].customer, size); table[at]; at = (at + 1) % size)
			if (c[table[at] - 1].id == o[i].customer) {
				group[c[table[at] - 1].country] += o[i].amount;
				matched++;
				break;
			}
	return matched;
}

ALONE long total_above(const struct order *o, size_t n, int limit)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		if (o[i].amount > limit)
			sum += o[i].amount;
	return sum;
}

int main(void)
{
	struct dice dice = { 18 };
	long sum = 0;

	EACH_SIZE(n, 8, MOST) {
		long nested[GROUPS] = { 0 }, hashed[GROUPS] = { 0 };

		load(customers, orders, n, &dice);
		if (n <= MOST / 4)
			sum += join_nested(customers, orders, n, nested);
		sum += join_hashed(customers, orders, n, hashed);
		sum += n > MOST / 4 || !memcmp(nested, hashed, sizeof(nested));
		sum += total_above(orders, n, 50);
	}
	printf("%ld\n", sum);
	return 0;
}
