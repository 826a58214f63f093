/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: two instances of a template stay two, virtual functions are counted for
 * the class that runs, and names are shown as the source writes them.
 */
#include "guest.h"

template <typename T> ALONE T twice(T x)
{
	return x + x;
}

struct Shape {
	virtual ~Shape() {}
	virtual int area() const = 0;
};

struct Square : Shape {
	int side;
	explicit Square(int s) : side(s) {}
	ALONE int area() const override { return side * side; }
};

struct Strip : Shape {
	int length;
	explicit Strip(int l) : length(l) {}
	ALONE int area() const override { return length; }
};

namespace {
ALONE int hidden(int x)
{
	return x - 1;
}
}

int main()
{
	Square square(3);
	Strip strip(5);
	const Shape *shapes[5] = {&square, &strip, &square, &strip, &square};
	int s = 0;

	for (const Shape *shape : shapes)
		s += shape->area();
	for (int i = 0; i < 4; i++)
		s = twice<int>(s);
	s += static_cast<int>(twice<double>(1.5) + twice<double>(2.5));
	printf("%d\n", hidden(s));
	return 0;
}
