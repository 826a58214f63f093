/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/order.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	struct slope_order order;
} spoken[] = {
	{ "1", { 0, 0, 0 } }, { "constant", { 0, 0, 0 } },
	{ "log", { 0, 1, 0 } }, { "logarithmic", { 0, 1, 0 } },
	{ "linear", { 1, 0, 0 } },
	{ "linearithmic", { 1, 1, 0 } }, { "loglinear", { 1, 1, 0 } },
	{ "quadratic", { 2, 0, 0 } }, { "cubic", { 3, 0, 0 } },
	{ "exponential", { 0, 0, 2 } },
};

/* 1.5 -> "1.5", 2 -> "2", 1.37 -> "1.37": two digits, without zeros at the end. */
static void put_number(double x, char text[16])
{
	snprintf(text, 16, "%.2f", x);
	if (strchr(text, '.')) {
		char *end = text + strlen(text) - 1;

		while (*end == '0')
			*end-- = '\0';
		if (*end == '.')
			*end = '\0';
	}
}

char *slope_order_text(struct slope_order order, char text[SLOPE_ORDER_TEXT])
{
	char number[16], power[20] = "";

	put_number(order.base ? order.base : order.power, number);
	if (order.base) {
		snprintf(text, SLOPE_ORDER_TEXT, "%.8s^n", number);
		return text;
	}
	if (!strcmp(number, "0.5"))
		strcpy(power, "sqrt n");
	else if (!strcmp(number, "1"))
		strcpy(power, "n");
	else if (strcmp(number, "0") && strcmp(number, "-0"))
		snprintf(power, sizeof(power), "n^%.8s", number);
	if (!order.logs)
		snprintf(text, SLOPE_ORDER_TEXT, "%s", power[0] ? power : "1");
	else if (order.logs == 1)
		snprintf(text, SLOPE_ORDER_TEXT, "%.12s%slog n", power, power[0] ? " " : "");
	else
		snprintf(text, SLOPE_ORDER_TEXT, "%.10s%slog^%u n", power, power[0] ? " " : "", order.logs % 100);
	return text;
}

/* Lower case without blanks, '*' and the wrapping O( ) or Theta( ); ** becomes ^, and superscripts ^2 and ^3. */
static bool squeeze(const char *text, char *out, size_t bytes)
{
	size_t length = 0;

	for (const char *c = text; *c; c++) {
		if (length + 3 <= bytes && !strncmp(c, "**", 2)) {
			out[length++] = '^';
			c++;
			continue;
		}
		if (isspace((unsigned char)*c) || *c == '*' || !strncmp(c, "\xc2\xb7", 2)) {
			c += (unsigned char)*c == 0xc2;
			continue;
		}
		if (length + 3 > bytes)
			return false;
		if (!strncmp(c, "\xc2\xb2", 2) || !strncmp(c, "\xc2\xb3", 2)) {
			out[length++] = '^';
			out[length++] = *++c == '\xb2' ? '2' : '3';
			continue;
		}
		out[length++] = (char)tolower((unsigned char)*c);
	}
	out[length] = '\0';
	static const char *const wrapping[] = { "o(", "theta(", "\xce\x98(" };

	for (size_t i = 0; i < sizeof(wrapping) / sizeof(*wrapping); i++) {
		size_t begin = strlen(wrapping[i]);

		if (length > begin && !strncmp(out, wrapping[i], begin) && out[length - 1] == ')') {
			out[length - 1] = '\0';
			memmove(out, out + begin, length - begin);
			break;
		}
	}
	return out[0] != '\0';
}

static bool take(const char **c, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*c, word, length))
		return false;
	*c += length;
	return true;
}

/* A plain decimal number from 0 to `most`. */
static bool take_number(const char **c, double most, double *number)
{
	char *end;

	if (!isdigit((unsigned char)**c))
		return false;
	*number = strtod(*c, &end);
	for (const char *at = *c; at < end; at++)
		if (!isdigit((unsigned char)*at) && *at != '.')
			return false;
	*c = end;
	return *number <= most;
}

/* log, logn, log(n), log2(n), ln(n), lgn, with ^q after the "log" or at the end. */
static bool take_log(const char **c, unsigned *logs)
{
	double q = 1;

	*logs = 1;
	if (take(c, "log2n") || take(c, "log2(n)"))
		return true;
	if (take(c, "log_2"))
		return take(c, "n") || take(c, "(n)");
	if (!take(c, "log") && !take(c, "ln") && !take(c, "lg"))
		return false;
	if (take(c, "^") && !take_number(c, 9, &q))
		return false;
	if (!take(c, "(n)") && !take(c, "n"))
		return false;
	if (q == 1 && take(c, "^") && !take_number(c, 9, &q))
		return false;
	*logs = (unsigned)q;
	return q == floor(q) && q >= 1;
}

static bool take_power(const char **c, double *power)
{
	if (take(c, "sqrt(n)") || take(c, "sqrtn") || take(c, "\xe2\x88\x9an")) {
		*power = 0.5;
		return true;
	}
	if (!take(c, "n"))
		return false;
	*power = 1;
	if (take(c, "^(")) {
		double over = 1;

		if (!take_number(c, 99, power))
			return false;
		if (take(c, "/") && (!take_number(c, 99, &over) || over == 0))
			return false;
		*power /= over;
		return take(c, ")");
	}
	return !take(c, "^") || take_number(c, 99, power);
}

bool slope_order_parse(const char *text, struct slope_order *order)
{
	char word[64];
	const char *c = word;

	if (!squeeze(text, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < sizeof(spoken) / sizeof(*spoken); i++)
		if (!strcmp(word, spoken[i].word)) {
			*order = spoken[i].order;
			return true;
		}
	*order = (struct slope_order){ 0 };
	if (isdigit((unsigned char)*c))
		return take_number(&c, 99, &order->base) && order->base > 1 && take(&c, "^n") && !*c;
	bool power = take_power(&c, &order->power);

	if (*c)
		return take_log(&c, &order->logs) && !*c;
	return power;
}

int slope_order_compare(struct slope_order a, struct slope_order b)
{
	if (a.base != b.base)
		return a.base < b.base ? -1 : 1;
	if (a.power != b.power)
		return a.power < b.power ? -1 : 1;
	return (a.logs > b.logs) - (a.logs < b.logs);
}

double slope_order_at(struct slope_order order, double n)
{
	if (order.base)
		return pow(order.base, n);
	double value = order.power == 1 ? n : order.power == 0 ? 1 : order.power == 2 ? n * n : pow(n, order.power);

	for (unsigned i = 0; i < order.logs; i++)
		value *= log2(n + 1);
	return value;
}

double slope_order_slope(struct slope_order order, double from, double to)
{
	if (from < 1)
		from = 1;
	if (to <= from)
		to = from * 1.01;
	if (!order.base && !order.logs)
		return order.power;
	if (order.base)
		return (to - from) * log(order.base) / log(to / from);
	return order.power + order.logs * log(log2(to + 1) / log2(from + 1)) / log(to / from);
}
