// SPDX-License-Identifier: GPL-3.0-or-later
//! Rust: names without the compiler's hash, counts as the source says, the
//! slice's size as input.

#[inline(never)]
pub fn total(v: &[u32]) -> u32 {
    let mut s = 0u32;
    for x in v {
        s = s.wrapping_add(*x);
    }
    s
}

#[inline(never)]
fn twice<T: std::ops::Add<Output = T> + Copy>(x: T) -> T {
    x + x
}

fn main() {
    let v: Vec<u32> = (0..100).collect();
    println!("{}", total(&v));
    println!("{}", total(&v[..10]));
    println!("{}", (0..5).map(|i| twice(std::hint::black_box(i))).sum::<i32>());
}
