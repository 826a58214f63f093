// SPDX-License-Identifier: GPL-3.0-or-later
//! sets [tree | long]: Rust. Different numbers gathered in a Vec that is asked with contains(),
//! n^2, or in a BTreeSet, n log n. A queue made of a Vec, taken from at the front: n^2; in
//! order: linear. With `long` the queue is longer than what memmove() moves in the one way,
//! and it goes over to another that takes several times the instructions.

use std::collections::BTreeSet;

#[inline(never)]
pub fn unique_in_vec(values: &[u32]) -> usize {
    let mut seen: Vec<u32> = Vec::new();
    for v in values {
        if !seen.contains(v) {
            seen.push(*v);
        }
    }
    seen.len()
}

#[inline(never)]
pub fn unique_in_tree(values: &[u32]) -> usize {
    let mut seen = BTreeSet::new();
    for v in values {
        seen.insert(*v);
    }
    seen.len()
}

#[inline(never)]
pub fn take_from_front(values: &[u32]) -> u32 {
    let mut queue = values.to_vec();
    let mut sum = 0u32;
    while !queue.is_empty() {
        sum = sum.wrapping_mul(31).wrapping_add(queue.remove(0));
    }
    sum
}

#[inline(never)]
pub fn take_in_order(values: &[u32]) -> u32 {
    let mut sum = 0u32;
    for v in values {
        sum = sum.wrapping_mul(31).wrapping_add(*v);
    }
    sum
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    let tree = way == "tree";
    let most = if tree { 16384 } else if way == "long" { 8192 } else { 1800 };
    let mut state: u64 = 21;
    let mut sum = 0;
    let mut n = 8;
    while n <= most {
        let mut values = Vec::with_capacity(n);
        for _ in 0..n {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            values.push((state >> 33) as u32);
        }
        if tree {
            sum += unique_in_tree(&values);
        } else {
            if way != "long" {
                sum += unique_in_vec(&values);
            }
            sum += (take_from_front(&values) == take_in_order(&values)) as usize;
        }
        n += n / 8 + 1;
    }
    println!("{}", sum);
}
