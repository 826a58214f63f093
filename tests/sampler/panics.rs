// SPDX-License-Identifier: GPL-3.0-or-later
//! Panics through many activations, caught far above; in threads, one of which nobody catches.
use std::panic;
use std::thread;

#[inline(never)]
fn sink(n: u32, held: &mut Vec<u32>) -> u32 {
    let kept = vec![n; 4];
    if n == 0 {
        panic!("bottom");
    }
    held.push(n);
    sink(n - 1, held) + kept[0]
}

fn run(times: u32) -> u64 {
    let mut sum = 0u64;
    for i in 0..times {
        let caught = panic::catch_unwind(|| sink(i % 40, &mut Vec::new()));
        sum += match caught {
            Ok(n) => n as u64,
            Err(cause) => cause.downcast_ref::<&str>().map_or(0, |s| s.len() as u64),
        };
    }
    sum
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    println!("{}", run(4000));
    let threads: Vec<_> = (0..4).map(|t| thread::spawn(move || if t == 3 { sink(t, &mut Vec::new()) as u64 } else { run(900 + t) })).collect();
    for t in threads {
        println!("{}", t.join().map_or("panicked".to_string(), |n| n.to_string()));
    }
}
