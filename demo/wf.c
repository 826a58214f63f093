/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wf: how often does each word occur in a text?
 *
 *   wf [FILE]     the twenty most frequent words, counts first
 *
 * Capitals do not matter: each word is lower-cased before it is counted. The
 * way this is done has the flaw that the demo is about: str_tolower asks for
 * the length of the word again for every letter of it. On ordinary words
 * nobody notices. The text of the demo has a few very long ones.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP 20
#define BUCKETS_FIRST 64

struct entry {
	struct entry *next;
	unsigned long count;
	unsigned hash;
	char word[];
};

struct table {
	struct entry **bucket;
	size_t buckets, words;
};

struct text {
	char *bytes;
	size_t length, position;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *need(void *p)
{
	if (!p)
		die("wf");
	return p;
}

static void read_text(struct text *text, FILE *in)
{
	size_t capacity = 1 << 16, n;

	text->bytes = need(malloc(capacity));
	while ((n = fread(text->bytes + text->length, 1, capacity - text->length - 1, in)) > 0) {
		text->length += n;
		if (capacity - text->length == 1) {
			capacity *= 2;
			text->bytes = need(realloc(text->bytes, capacity));
		}
	}
	text->bytes[text->length] = '\0';
}

/* The next word, terminated in place, or NULL at the end of the text. */
static char *next_word(struct text *text)
{
	char *s = text->bytes + text->position;
	char *end = text->bytes + text->length;

	while (s < end && !isalpha((unsigned char)*s))
		s++;
	if (s == end)
		return NULL;
	char *word = s;

	while (s < end && isalpha((unsigned char)*s))
		s++;
	*s = '\0';
	text->position = s < end ? (size_t)(s - text->bytes) + 1 : text->length;
	return word;
}

/* Here it is: strlen in the loop's condition makes a linear job quadratic. */
static void str_tolower(char *word)
{
	for (size_t i = 0; i < strlen(word); i++)
		word[i] = (char)tolower((unsigned char)word[i]);
}

static unsigned hash_word(const char *word)
{
	unsigned h = 2166136261u;

	while (*word)
		h = (h ^ (unsigned char)*word++) * 16777619u;
	return h;
}

static void grow_table(struct table *table)
{
	size_t buckets = table->buckets ? table->buckets * 2 : BUCKETS_FIRST;
	struct entry **bucket = need(calloc(buckets, sizeof(*bucket)));

	for (size_t i = 0; i < table->buckets; i++) {
		for (struct entry *e = table->bucket[i], *next; e; e = next) {
			next = e->next;
			e->next = bucket[e->hash % buckets];
			bucket[e->hash % buckets] = e;
		}
	}
	free(table->bucket);
	table->bucket = bucket;
	table->buckets = buckets;
}

static void count_word(struct table *table, const char *word)
{
	unsigned hash = hash_word(word);

	if (table->words >= table->buckets)
		grow_table(table);
	struct entry **place = &table->bucket[hash % table->buckets];

	for (struct entry *e = *place; e; e = e->next) {
		if (e->hash == hash && !strcmp(e->word, word)) {
			e->count++;
			return;
		}
	}
	size_t bytes = strlen(word) + 1;
	struct entry *e = need(malloc(sizeof(*e) + bytes));

	memcpy(e->word, word, bytes);
	e->hash = hash;
	e->count = 1;
	e->next = *place;
	*place = e;
	table->words++;
}

/* More frequent first, then by the alphabet. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->word, y->word);
}

static void print_top(const struct table *table)
{
	struct entry **all = need(malloc((table->words + 1) * sizeof(*all)));
	size_t n = 0;

	for (size_t i = 0; i < table->buckets; i++)
		for (struct entry *e = table->bucket[i]; e; e = e->next)
			all[n++] = e;
	qsort(all, n, sizeof(*all), compare_entries);
	for (size_t i = 0; i < n && i < TOP; i++)
		printf("%7lu %.60s\n", all[i]->count, all[i]->word);
	free(all);
}

static void free_table(struct table *table)
{
	for (size_t i = 0; i < table->buckets; i++) {
		for (struct entry *e = table->bucket[i], *next; e; e = next) {
			next = e->next;
			free(e);
		}
	}
	free(table->bucket);
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	struct table table = { 0 };
	struct text text = { 0 };
	char *word;

	if (!in)
		die(argv[1]);
	read_text(&text, in);
	while ((word = next_word(&text))) {
		str_tolower(word);
		count_word(&table, word);
	}
	print_top(&table);
	free_table(&table);
	free(text.bytes);
	return 0;
}
