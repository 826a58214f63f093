/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parallel data|pipeline THREADS BATCHES
 *
 * Work that is the same for any number of threads, and prints the same result:
 *
 * data      the batches are split between the threads, which have nothing in
 *           common but a table that all of them read.
 * pipeline  each batch goes through all threads; every one takes the batch
 *           over from the one before, does its share of the rounds, and hands
 *           it on. take_batch() reads ITEMS cells and nothing else: from the
 *           second stage on, its trms is ITEMS, all of it from a thread.
 *
 * The program of bench/threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 1000u
#define ROUNDS 48u           /* of work on each item, all stages together: 1 to 16 of them share evenly, or nearly */
#define SLOTS 4u
#define THREADS_MAX 64u
#define TABLE 4096u
#define ALONE __attribute__((noinline, noclone))

static uint32_t table[TABLE];

/* Batches between two stages. */
struct link {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned filled, first;
	uint32_t slot[SLOTS][ITEMS];
};

struct worker {
	pthread_t thread;
	unsigned number, workers, batches;
	struct link *in, *out;       /* of a pipeline; NULL at its ends */
	uint64_t sum;
};

static ALONE uint32_t mixed(uint32_t x)
{
	x = x * 2654435761u + table[x % TABLE];
	return x ^ x >> 15;
}

static ALONE void work_on(uint32_t *item, unsigned rounds)
{
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 0; i < ITEMS; i++)
			item[i] = mixed(item[i]);
}

static ALONE void make_batch(uint32_t *item, unsigned number)
{
	for (unsigned i = 0; i < ITEMS; i++)
		item[i] = number * ITEMS + i;
}

static ALONE uint64_t sum_batch(const uint32_t *item)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < ITEMS; i++)
		sum += item[i];
	return sum;
}

/* One read of each item. */
static ALONE void take_batch(uint32_t *to, const uint32_t *from)
{
	for (unsigned i = 0; i < ITEMS; i++)
		((volatile uint32_t *)to)[i] = from[i];
}

static void *data_worker(void *arg)
{
	struct worker *w = arg;
	uint32_t item[ITEMS];

	for (unsigned b = w->number; b < w->batches; b += w->workers) {
		make_batch(item, b);
		work_on(item, ROUNDS);
		w->sum += sum_batch(item);
	}
	return NULL;
}

/* A slot of the link that is empty (or, full), when there is one. */
static uint32_t *wait_for(struct link *l, unsigned full)
{
	uint32_t *slot;

	pthread_mutex_lock(&l->lock);
	while (full ? l->filled == 0 : l->filled == SLOTS)
		pthread_cond_wait(&l->changed, &l->lock);
	slot = l->slot[full ? l->first : (l->first + l->filled) % SLOTS];
	pthread_mutex_unlock(&l->lock);
	return slot;
}

static void done_with(struct link *l, unsigned full)
{
	pthread_mutex_lock(&l->lock);
	if (full)
		l->first = (l->first + 1) % SLOTS;
	l->filled += full ? -1u : 1u;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void *stage(void *arg)
{
	struct worker *w = arg;
	unsigned rounds = ROUNDS * (w->number + 1) / w->workers - ROUNDS * w->number / w->workers;
	uint32_t item[ITEMS];

	for (unsigned b = 0; b < w->batches; b++) {
		if (w->in) {
			take_batch(item, wait_for(w->in, 1));
			done_with(w->in, 1);
		} else {
			make_batch(item, b);
		}
		work_on(item, rounds);
		if (w->out) {
			memcpy(wait_for(w->out, 0), item, sizeof item);
			done_with(w->out, 0);
		} else {
			w->sum += sum_batch(item);
		}
	}
	return NULL;
}

static struct link *new_link(void)
{
	struct link *l = calloc(1, sizeof *l);

	if (!l)
		abort();
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	return l;
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS_MAX];
	unsigned threads = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	int pipeline = argc > 1 && !strcmp(argv[1], "pipeline");
	uint64_t sum = 0;

	if (!threads || threads > THREADS_MAX || (!pipeline && strcmp(argv[1], "data") != 0)) {
		fprintf(stderr, "usage: parallel data|pipeline THREADS BATCHES (at most %u threads)\n", THREADS_MAX);
		return 2;
	}
	for (unsigned i = 0; i < TABLE; i++)
		table[i] = i * i;
	for (unsigned i = 0; i < threads; i++) {
		worker[i] = (struct worker){ .number = i, .workers = threads, .batches = (unsigned)atoi(argv[3]),
					     .in = i ? worker[i - 1].out : NULL,
					     .out = pipeline && i + 1 < threads ? new_link() : NULL };
		if (pthread_create(&worker[i].thread, NULL, pipeline ? stage : data_worker, &worker[i]) != 0)
			return 1;
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		sum += worker[i].sum;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
