/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function, named and weighted by -DNAME and -DSTEP, for reload.c. */
int NAME(int x);

int NAME(int x)
{
	return x * STEP + 1;
}
