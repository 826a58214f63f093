/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search_tree [sorted]: a search tree that nobody balances. Sorted keys make it
 * a list: plant() is n^2. Random ones leave it about 2 ln(n) deep: n log n. Either
 * way insert() reads the nodes on its path, and is linear in those.
 */
#include "growth.h"

#define MOST 16384

struct node {
	struct node *child[2];
	int key;
};

static int keys[MOST];
static struct node nodes[MOST];

ALONE void insert(struct node **root, struct node *fresh, int key)
{
	struct node **at = root;

	while (*at)
		at = &(*at)->child[key > (*at)->key];
	fresh->child[0] = fresh->child[1] = NULL;
	fresh->key = key;
	*at = fresh;
}

ALONE struct node *plant(struct node *node, const int *key, size_t n)
{
	struct node *root = NULL;

	for (size_t i = 0; i < n; i++)
		insert(&root, &node[i], key[i]);
	return root;
}

/* Every node once, without recursion: a list of 4000 links is deep. */
ALONE long add_up(const struct node *node, size_t n)
{
	long sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += node[i].key;
	return sum;
}

int main(int argc, char **argv)
{
	int sorted = argc > 1 && !strcmp(argv[1], "sorted");
	struct dice dice = { 10 };
	long sum = 0;

	EACH_SIZE(n, 8, sorted ? MOST / 8 : MOST) {
		for (size_t i = 0; i < n; i++)
			keys[i] = sorted ? (int)i : (int)(roll(&dice) % 1000000);
		sum += plant(nodes, keys, n) != NULL;
		sum += add_up(nodes, n);
	}
	printf("%ld\n", sum);
	return 0;
}
