/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slope without the report page: there was no node or npm, or it was switched off. */
#include "report/page_template.h"

const unsigned char slope_page_template[1] = { 0 };
const size_t slope_page_template_bytes = 0;
const char slope_page_absence[] = "there was no node or npm, or it was switched off (-Dpage)";
