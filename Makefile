# SPDX-License-Identifier: GPL-3.0-or-later
#
# The front door to Meson and Ninja:
#
#   make            build into build/; build/slope works from there
#   make demo       install what is missing, build, profile an example, show the report
#   make check      install what is missing, build, run every test
#   make battery    real programs under the translator, all of tests/translator/battery
#   make bench      the overhead table (bench/overhead; takes a while)
#   make fuzz       search for files that break the decoder, for FUZZ_SECONDS
#   make install    below PREFIX (/usr/local), or DESTDIR/PREFIX
#   make clean      remove build/ and what make check made
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.PHONY: all demo check battery bench fuzz install clean

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	scripts/setup build
	meson setup $(BUILD) --prefix=$(PREFIX)

demo: all
	demo/run $(BUILD)

check:
	scripts/check $(BUILD)

battery: all
	scripts/setup build check battery
	BATTERY_DIR=$(BUILD)/battery TRANSLATOR=$(BUILD)/sources/translator/slope-translator SLOPE=$(BUILD)/slope \
		tests/translator/battery

bench: all
	scripts/setup bench
	bench/overhead --build=$(BUILD)

fuzz:
	scripts/setup fuzz
	tests/fuzz/run $(FUZZ_SECONDS)

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-san
