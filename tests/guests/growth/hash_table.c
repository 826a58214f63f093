/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash_table [bad]: counts different words. With the bad hash, the first
 * letter, all words come into one chain and count_words() is n^2: it is find()
 * that walks the chain, linear in what it reads. With the good one the table
 * doubles as it fills, count_words() is linear, and no spike of a doubling
 * makes it look like more.
 */
#include "growth.h"

#define MOST 16384
#define LENGTH 12             /* of a word and its end */

struct entry {
	struct entry *next;
	const char *word;
	unsigned count;
};

struct table {
	struct entry **bucket;
	struct entry *entry;         /* memory for all of them */
	size_t size, used;
	int bad;
};

static char words[MOST][LENGTH];
static struct entry entries[MOST];

ALONE unsigned hash(const char *word, int bad)
{
	unsigned h = 5381;

	if (bad)
		return (unsigned char)*word;
	while (*word)
		h = h * 33 + (unsigned char)*word++;
	return h;
}

static int same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

ALONE struct entry *find(const struct table *t, const char *word)
{
	struct entry *e = t->bucket[hash(word, t->bad) & (t->size - 1)];

	while (e && !same(e->word, word))
		e = e->next;
	return e;
}

ALONE void place(struct table *t, struct entry *e)
{
	struct entry **head = &t->bucket[hash(e->word, t->bad) & (t->size - 1)];

	e->next = *head;
	*head = e;
}

/* Not by calloc: memory that nobody has written yet would be input. */
static struct entry **empty_buckets(size_t size)
{
	struct entry **bucket = malloc(size * sizeof(*bucket));

	BARRIER();                   /* or the compiler makes it calloc */
	memset(bucket, 0, size * sizeof(*bucket));
	return bucket;
}

ALONE void grow(struct table *t)
{
	struct entry **old = t->bucket;
	size_t size = t->size;

	t->size *= 2;
	t->bucket = empty_buckets(t->size);
	for (size_t i = 0; i < size; i++)
		for (struct entry *e = old[i], *next; e; e = next) {
			next = e->next;
			place(t, e);
		}
	free(old);
}

ALONE void add(struct table *t, const char *word)
{
	struct entry *e = find(t, word);

	if (!e) {
		if (t->used == t->size)
			grow(t);
		e = &t->entry[t->used++];
		*e = (struct entry){ .word = word };
		place(t, e);
	}
	e->count++;
}

ALONE size_t count_words(char (*word)[LENGTH], size_t n, int bad)
{
	struct table t = { .bucket = empty_buckets(8), .entry = entries, .size = 8, .bad = bad };

	for (size_t i = 0; i < n; i++)
		add(&t, word[i]);
	free(t.bucket);
	return t.used;
}

int main(int argc, char **argv)
{
	int bad = argc > 1 && !strcmp(argv[1], "bad");
	struct dice dice = { 9 };
	size_t sum = 0;

	EACH_SIZE(n, 8, bad ? MOST / 8 : MOST) {
		for (size_t i = 0; i < n; i++)
			snprintf(words[i], LENGTH, "name%07u", roll(&dice) % 10000000);
		sum += count_words(words, n, bad);
	}
	printf("%zu\n", sum);
	return 0;
}
