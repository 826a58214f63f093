# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of tests/translator/battery, and the files that they find in their folder."""

import os
import random
import struct


class Program:
    """`script` is for bash; `run COMMAND` in it is what runs under the translator. `needs`: commands that must be there."""

    def __init__(self, name, script, needs=None, quick=True, threads=False, ignored=()):
        self.name, self.script, self.quick, self.threads, self.ignored = name, script, quick, threads, ignored
        self.needs = needs if needs is not None else [name]


# What is known not to work, each with the reason.
OPEN = {}

PYTHON = r"""
import collections, hashlib, itertools, json, re, sys
class Tree:
    def __init__(self): self.left = self.right = None; self.key = None
    def put(self, k):
        if self.key is None: self.key, self.left, self.right = k, Tree(), Tree()
        elif k != self.key: (self.left if k < self.key else self.right).put(k)
    def walk(self):
        if self.key is not None:
            yield from self.left.walk(); yield self.key; yield from self.right.walk()
words = re.findall(r"[a-z]+", open("text").read())
t = Tree()
for w in words[:3000]: t.put(w)
print(json.dumps(list(itertools.islice(t.walk(), 20))), collections.Counter(words).most_common(3))
print(hashlib.sha256(" ".join(words).encode()).hexdigest(), 3 ** 500 % 10 ** 40, sum(x * 0.1 for x in range(1000)))
try: {}[1]
except KeyError as e: print("caught", repr(e))
import subprocess, os, tempfile
print(subprocess.run(["sort", "-r"], input=b"a\nb\nc\n", capture_output=True).stdout)
with tempfile.TemporaryDirectory(dir=".") as d: open(os.path.join(d, "x"), "w").write("y")
pid = os.fork()
if not pid: os._exit(9)
print(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
try: subprocess.run(["./nowhere"])
except FileNotFoundError as e: print("not found", e.errno)
sys.exit(5)
"""

BASH = r"""
set -u
trap 'echo leaving $?' EXIT
trap 'echo usr1' USR1
f() { local n=$1; ((n < 2)) && { echo $n; return; }; echo $(( $(f $((n - 1))) + $(f $((n - 2))) )); }
f 6
kill -USR1 $$
( trap 'echo inner' EXIT; exit 3 ); echo "subshell $?"
for i in 1 2 3 4; do echo $i; done | while read -r x; do echo $((x * x)); done | sort -rn | paste -sd,
cat <(echo one) <(echo two) | tr a-z A-Z
declare -A count; while read -r w _; do count[$w]=$(( ${count[$w]-0} + 1 )); done < text; echo ${#count[@]}
coproc { while read -r l; do echo "<$l>"; done; }; echo hi >&${COPROC[1]}; read -r back <&${COPROC[0]}; echo $back; kill $COPROC_PID; wait $COPROC_PID 2>/dev/null; echo $?
sleep 0.05 & wait $!; echo "waited $?"
./nowhere 2>/dev/null; echo "missing $?"
printf -v padded '%08.3f' 3.14159; echo $padded
[[ abc123 =~ ([a-z]+)([0-9]+) ]] && echo ${BASH_REMATCH[2]}
(kill -TERM $BASHPID); echo "killed $?"
exit 7
"""

CPP = r"""
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Noisy { std::string n; Noisy(std::string s) : n(std::move(s)) {} ~Noisy() { std::cout << "~" << n << "\n"; } };
struct Odd : std::runtime_error { using std::runtime_error::runtime_error; };
static int fall(int n) { Noisy x(std::to_string(n)); if (!n) throw Odd("bottom"); return fall(n - 1) + 1; }
static void again() { try { fall(3); } catch (const Odd &) { std::cout << "again\n"; throw; } }
int main()
{
	for (int i = 0; i < 3; i++)
		try { again(); } catch (const std::exception &e) { std::cout << e.what() << "\n"; }
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 3000; i++) m[std::to_string(i * 7919 % 101)].push_back(i);
	long sum = 0;
	for (auto &[k, v] : m) { std::sort(v.begin(), v.end(), std::greater<int>()); sum = sum * 31 + v[0] + (long)k.size(); }
	std::cout << sum << "\n";
	try { std::vector<int>(3).at(9); } catch (const std::out_of_range &) { std::cout << "range\n"; }
	try { auto p = std::make_unique<std::string>("x"); std::stoi(*p); } catch (...) { std::cout << "any\n"; }
	std::function<int(int)> f = [&](int n) { return n < 2 ? n : f(n - 1) + f(n - 2); };
	std::cout << f(15) << std::endl;
	throw 4;
}
"""

RUST = r"""
use std::collections::BTreeMap;
use std::panic;
fn main() {
    let text = std::fs::read_to_string("text").unwrap();
    let mut m: BTreeMap<&str, usize> = BTreeMap::new();
    for w in text.split_whitespace() { *m.entry(w).or_default() += 1; }
    println!("{} {:?}", m.len(), m.iter().next());
    panic::set_hook(Box::new(|_| println!("panic")));
    let r = panic::catch_unwind(|| { let v: Vec<i32> = vec![]; v[3] });
    println!("{}", r.is_err());
    let mut v: Vec<u64> = (0..5000).map(|x| x * 7919 % 10007).collect();
    v.sort_unstable();
    println!("{}", v.iter().enumerate().map(|(i, x)| i as u64 * x).sum::<u64>());
    if std::env::args().len() > 1 {
        let h: Vec<_> = (0..4).map(|i| std::thread::spawn(move || (0..10000u64).map(|x| x * i).sum::<u64>())).collect();
        println!("{:?}", h.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
    }
    std::process::exit(3);
}
"""

OPENMP = r"""
#include <stdio.h>
int main(void)
{
	double sum = 0;
	static int a[10000];
#pragma omp parallel for num_threads(4)
	for (int i = 0; i < 10000; i++) a[i] = i * 7919 % 101;
#pragma omp parallel for reduction(+:sum) num_threads(4)
	for (int i = 0; i < 10000; i++) sum += a[i];
	printf("%.0f\n", sum);
	return 0;
}
"""

NGINX = r"""
mkdir -p www log; cp text www/index.html; head -c 100000 data.bin > www/blob
cat > nginx.conf <<E
daemon off; master_process off; worker_processes 1; pid $PWD/nginx.pid; error_log /dev/null;
events { worker_connections 64; }
http { access_log off; client_body_temp_path $PWD/log; proxy_temp_path $PWD/log; fastcgi_temp_path $PWD/log;
uwsgi_temp_path $PWD/log; scgi_temp_path $PWD/log;
server { listen 127.0.0.1:$PORT; root $PWD/www; gzip on; gzip_types *; } }
E
run nginx -p $PWD -c $PWD/nginx.conf -e /dev/null & server=$!
for i in $(seq 200); do curl -s -o /dev/null http://127.0.0.1:$PORT/ && break; kill -0 $server || exit 1; sleep 0.05; done
for i in $(seq 100); do curl -s http://127.0.0.1:$PORT/blob; done | md5sum
curl -s --compressed http://127.0.0.1:$PORT/ | md5sum
seq 40 | xargs -P 4 -I{} curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/index.html?{} | sort | uniq -c
curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/none
kill -QUIT $(cat nginx.pid); wait $server; echo "ended $?"; rm -f nginx.conf
"""

REDIS = r"""
run redis-server --port $PORT --save "" --appendonly no --daemonize no >/dev/null & server=$!
for i in $(seq 200); do redis-cli -p $PORT ping >/dev/null 2>&1 && break; kill -0 $server 2>/dev/null || exit 1; sleep 0.05; done
redis-cli -p $PORT set a 1; redis-cli -p $PORT incr a
seq 300 | sed 's/.*/zadd z & m&/' | redis-cli -p $PORT | sort | uniq -c
redis-cli -p $PORT zrange z 10 15
redis-cli -p $PORT eval 'local s = 0 for i = 1, 1000 do s = s + i end return s' 0
redis-benchmark -p $PORT -q -n 2000 -c 10 -t set,get,lpush > /dev/null; echo "load $?"
redis-cli -p $PORT dbsize
redis-cli -p $PORT shutdown nosave; wait $server; echo "ended $?"
"""

GIT = r"""
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
run git init -q -b main repo; cd repo
for what in pack grep index; do git config $what.threads 1; done
cp ../text ../program.c .
run git add .; run git commit -q -m first
sed -i 's/int/long/' program.c
run git -c core.pager=cat diff --stat
run git commit -q -am second; run git checkout -q -b side HEAD~1; echo more > more; run git add more; run git commit -q -m side
run git checkout -q main; run git merge -q -m merged side
run git -c core.pager=cat log --oneline --graph; run git gc -q; run git fsck; run git grep -c return
run git archive HEAD | md5sum; run git status --short; run git show nothing; echo $?
"""

OPENSSL = r"""
run openssl version | cut -d' ' -f1
for d in md5 sha1 sha256 sha512 sha3-256 blake2b512; do run openssl dgst -$d data.bin; done
for c in aes-128-cbc aes-256-ctr chacha20 camellia-128-cbc; do
run openssl enc -$c -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff -iv 00112233445566778899aabbccddeeff -in data.bin 2>/dev/null | md5sum; done
run openssl genrsa -out key.pem 2048 2>/dev/null; run openssl rsa -in key.pem -check -noout
run openssl dgst -sha256 -sign key.pem -out sig data.bin; run openssl rsa -in key.pem -pubout -out pub.pem 2>/dev/null
run openssl dgst -sha256 -verify pub.pem -signature sig data.bin; run openssl ecparam -name prime256v1 -genkey -noout -out ec.pem; run openssl ec -in ec.pem -noout -check 2>&1
rm -f key.pem sig pub.pem ec.pem
"""

CURL = r"""
python3 -m http.server --bind 127.0.0.1 $PORT >/dev/null 2>&1 & server=$!
for i in $(seq 200); do curl -s -o /dev/null http://127.0.0.1:$PORT/text && break; sleep 0.05; done
run curl -s http://127.0.0.1:$PORT/text | md5sum; run curl -s -o got http://127.0.0.1:$PORT/data.bin; run curl -sf http://127.0.0.1:$PORT/none; echo $?
run curl -s file://$PWD/text | md5sum
kill $server
"""

NODE = r"""
let a = []; for (let i = 0; i < 20000; i++) a.push((i * 7919) % 10007); a.sort((x, y) => x - y);
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log(a[5], fib(22), JSON.stringify({ m: new Map([[1, 2]]).size }), "abc".replace(/b/, "x"));
process.exit(6);
"""

# Each worker has code of its own, most of it far above the program's.
NODE_WORKERS = r"""
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
if (isMainThread) {
	let left = 4, sum = 0;
	for (let i = 0; i < 4; i++)
		new Worker(__filename, { workerData: i }).on("message", m => { sum += m; if (!--left) console.log("sum", sum); });
} else {
	let s = 0;
	for (let i = 0; i < 300000; i++) s = (s * 31 + i * workerData) % 1000003;
	const f = new Function("x", "let t = 0; for (let i = 0; i < x; i++) t += i % 7; return t;");
	parentPort.postMessage(s + f(100000));
}
"""

LUAJIT = r"""
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local t = {} for i = 1, 200000 do t[i] = (i * 7919) % 10007 end
local s = 0 for j = 1, 20 do for i = 1, #t do s = (s * 3 + t[i]) % 1000003 end end
local parts = {} for i = 1, 2000 do parts[#parts + 1] = string.format("%d:%s", i, ("x"):rep(i % 7)) end
print(fib(24), s, #table.concat(parts), jit and jit.status())
local ok, e = pcall(function() error({ code = 5 }) end) print(ok, e.code)
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) print(co(), co(), co())
local ffi = require("ffi") ffi.cdef("int abs(int); size_t strlen(const char *);")
local n = 0 for i = 1, 1000 do n = n + ffi.C.abs(-i) + tonumber(ffi.C.strlen("four")) end print(n)
"""

PERL_FORK = r"""
$| = 1; my $sum = 0;
for my $i (1..8) { my $pid = open(my $h, "-|"); if (!$pid) { print $i * $i; exit $i } local $/; $sum += <$h>; close $h; $sum += $? >> 8 }
print "$sum\n";
$SIG{ALRM} = sub { print "alarm\n" }; $SIG{USR1} = sub { die "usr1\n" };
alarm 1; select(undef, undef, undef, 3); eval { kill USR1 => $$; sleep 1 }; print "died $@";
my $pid = fork; if (!$pid) { exec "echo", "from exec" } waitpid $pid, 0; print "status $?\n";
exec "sh", "-c", "exit 11";
"""

PROGRAMS = [
    Program("python3", "run python3 main.py"),
    Program("python3-threads", "run python3 -c 'import threading, queue\nq = queue.Queue()\nt = [threading.Thread(target=q.put, "
            "args=(i,)) for i in range(9)]\n[x.start() for x in t]\n[x.join() for x in t]\nprint(sorted(q.queue))'",
            ["python3"], threads=True, quick=False),
    Program("perl", "run perl -ne '$n{lc $1}++ while /(\\w+)/g; END { print \"$_ $n{$_}\\n\" for sort keys %n }' text | md5sum; "
            "run perl -MPOSIX -e 'printf \"%.10f %s\\n\", exp(1), strftime(\"%F\", gmtime(0)); my @a = sort { $a <=> $b } map "
            "{ $_ * 7919 % 1009 } 1..5000; print \"@a[0..5]\\n\"; die {code => 1} if 0; exit 4'"),
    Program("perl-fork", "run perl fork.pl", ["perl"]),
    Program("gawk", "run gawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { m = asorti(n, k); for (i = 1; i <= m; i += 50) "
            "printf \"%s %d\\n\", k[i], n[k[i]]; print systime() > 0, gensub(/a(.)/, \"<\\\\1>\", \"g\", \"banana\"); \"echo hi\" | getline x; "
            "print x | \"cat\"; exit 3 }' text"),
    Program("mawk", "run mawk '{ s += length($0); n[$1]++ } END { for (w in n) c++; print s, c, sin(1) }' text"),
    Program("original-awk", "run original-awk '{ s += NF } END { print s, substr($0, 2, 5) }' text"),
    Program("bash", "run bash script.sh"),
    Program("dash", "run dash -c 'for i in 1 2 3; do echo $i; done | sort -r; x=$(echo sub); echo $x; trap \"echo out\" EXIT; exit 2'"),
    Program("cc1", "run $(gcc -print-prog-name=cc1) -quiet -O2 -o program.s program.c", ["gcc"], quick=False),
    Program("gcc", "run gcc -O2 -g -o program main.c program.c && ./program; echo $?; run gcc -c broken.c; echo $?; run gcc -E -dM - < /dev/null | md5sum",
            quick=False),
    Program("g++", "run g++ -O1 -o program exceptions.cpp && ./program > ran; echo $?", quick=False, ignored=("stderr",)),
    Program("exceptions", "g++ -O2 -o program exceptions.cpp; run ./program; echo $?", ["g++"], ignored=("stderr",)),
    Program("rust", "rustc -O -o program main.rs && run ./program; echo $?", ["rustc"]),
    Program("rust-threads", "rustc -O -o program main.rs && run ./program threads; echo $?", ["rustc"], threads=True, quick=False),
    Program("openmp", "gcc -O2 -fopenmp -o program openmp.c && run ./program", ["gcc"], threads=True),
    Program("static-pie", "gcc -O2 -static-pie -o program main.c program.c && run ./program; echo $?", ["gcc"]),
    Program("gfortran", "gfortran -O2 -o program main.f90 && run ./program", ["gfortran"]),
    Program("git", GIT, ignored=(r"repo/\.git/.*",), quick=False),
    Program("sqlite3", "run sqlite3 t.db 'create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all select x+1 "
            "from c where x < 3000) insert into t select x, hex(x * 7919) from c; create index i on t(b); select count(*), sum(a) "
            "from t where b like \"3%\"; select b from t order by b desc limit 3; pragma integrity_check; select * from none'; echo $?"),
    Program("xz", "run xz -T1 -k text; run xz -dc text.xz | cmp - text && echo equal; run xz -t text.xz; run xz -t main.c; echo $?"),
    Program("xz-threads", "run xz -T2 --block-size=40000 -k text; run xz -T2 -dc text.xz | cmp - text", ["xz"], threads=True),
    Program("zstd", "run zstd -q --no-asyncio --single-thread -19 text; run zstd -q --no-asyncio -dc --single-thread text.zst | cmp - text && echo equal"),
    Program("zstd-threads", "run zstd -q -T2 -3 data.bin; run zstd -q -dc data.bin.zst | cmp - data.bin", ["zstd"], threads=True),
    Program("bzip2", "run bzip2 -k text; run bzip2 -dc text.bz2 | cmp - text && echo equal; run bzip2 -t text; echo $?"),
    Program("gzip", "run gzip -nk9 text; run gzip -dc text.gz | md5sum; run gzip -t text.gz"),
    Program("pigz-threads", "run pigz -p2 -nk text; run pigz -dc text.gz | cmp - text", ["pigz"], threads=True),
    Program("redis", REDIS, ["redis-server", "redis-cli"], threads=True, quick=False),
    Program("nginx", NGINX, ["nginx", "curl"]),
    Program("curl", CURL, ["curl"], threads=False),
    Program("luajit", "run luajit -O3 main.lua; run luajit -joff main.lua"),
    Program("lua5.4", "run lua5.4 -e 'local t = {} for i = 1, 30000 do t[i] = (i * 7919) % 10007 end table.sort(t) print(t[1], t[9999], #t, "
            "string.format(\"%.14g\", math.sin(2)), pcall(error, \"x\"))'"),
    Program("sbcl", "run sbcl --noinform --non-interactive --eval '(print (reduce (function +) (loop for i below 1000 collect (* i i))))'", quick=False),
    Program("erl", "run erl -noshell -eval 'L = lists:sort([X * 7919 rem 10007 || X <- lists:seq(1, 5000)]), io:format(\"~p ~p~n\", "
            "[lists:sum(L), lists:nth(99, L)]), halt(3).'", threads=True, quick=False),
    Program("node", "run node main.js", threads=True, quick=False),
    Program("node-workers", "run node workers.js", ["node"], threads=True, quick=False),
    Program("make", "run make -s -f makefile -j2; run make -s -f makefile none; echo $?"),
    Program("sed", "run sed -E 's/([a-c]+)(d)/\\2\\1/g; /^e/d; 10,20y/abc/xyz/' text | md5sum; run sed -i 5q text; wc -l < text"),
    Program("grep", "run grep -c 'ab' text; run grep -oE '[a-c]{3,}' text | sort | uniq -c | sort -rn | head -5; run grep -q nowhere text; echo $?; "
            "run grep -rl return . | sort"),
    Program("sort", "run sort --parallel=1 -k 2,2 -k 1,1r text | md5sum; run sort -n -u -c text; echo $?; run sort --parallel=1 -S 100k text | md5sum"),
    Program("sort-threads", "for i in 1 2 3 4 5 6 7 8; do cat text; done > more; run sort --parallel=2 more | md5sum; cat more more more more > most; "
            "run sort --parallel=4 most | md5sum", ["sort"], threads=True, quick=False),
    Program("tar", "run tar --sort=name --mtime=@0 --owner=0 --group=0 -czf all.tgz text main.c data.bin; run tar -tzf all.tgz; mkdir x; run tar -xzf all.tgz -C x"),
    Program("find-xargs", "run find . -name '*.c' -type f -printf '%f %s\\n' | sort; run find . -name '*.c' -print0 | run xargs -0 -n 1 wc -c | sort; "
            "run find . -name main.c -exec md5sum {} +; run find none; echo $?", ["find", "xargs"]),
    Program("coreutils", "run ls -1; run cp text copy; run mv copy moved; run stat -c %s moved; run date -d @0; run seq 1 7 1000 | run tac | run head -3; "
            "run cksum text; run wc text; run tr a-d w-z < text | md5sum; run env -i A=b env; run timeout 0.2 sleep 5; echo $?; run nice -n 1 true; "
            "run dd if=text of=part bs=1000 count=3 status=none; run od -c part | tail -1; run factor 123456789012345677; run readlink /proc/self/exe", []),
    Program("openssl", OPENSSL, quick=False),
    Program("lame", "run lame --quiet -b 96 sound.wav sound.mp3; run lame --quiet --decode sound.mp3 back.wav"),
    Program("xmllint", "run xmllint --format data.xml | md5sum; run xmllint --xpath 'count(//b[@c > 100])' data.xml; run xmllint --noout main.c 2>/dev/null; echo $?"),
    Program("bc", "echo 'scale=60; 4*a(1); 2^300; define f(n) { if (n < 2) return n; return f(n-1)+f(n-2) }; f(16)' | run bc -l"),
    Program("dc", "echo '40k 2v p 99 [1-d1<x]dsxx p 2 200^ p' | run dc"),
    Program("gdb", "run gdb --version | head -1; run gdb -q -batch -nx -ex 'print 6*7' -ex 'info line'", ["gdb"], threads=True, quick=False),
    Program("ssh-keygen", "run ssh-keygen -q -t ed25519 -N '' -f key -C c; run ssh-keygen -lf key.pub | cut -d' ' -f1,3-; run ssh-keygen -yf key | "
            "cmp - key.pub && echo same; rm -f key key.pub"),
    Program("jq", "run jq -c '[.[] | select(.n % 3 == 0) | {(.w): (.n * 1.5)}] | length, .[1:3]' data.json; run jq . text; echo $?"),
    Program("m4", "echo 'define(`f'\"'\"', `ifelse($1, 0, 1, `eval($1 * f(decr($1)))'\"'\"')'\"'\"')f(9) esyscmd(echo hi)' | run m4"),
    Program("busybox", "run busybox sh -c 'busybox md5sum text; busybox seq 5 | busybox awk \"{ s += \\$1 } END { print s }\"; busybox gzip -k text; "
            "busybox tar c main.c | busybox wc -c; (exit 4)'; echo $?; run busybox ls -1"),
    Program("binutils", "gcc -O1 -c program.c; run objdump -d program.o | md5sum; run nm program.o | md5sum; run strip -o stripped program.o; run readelf -S stripped | md5sum; "
            "run as -o empty.o /dev/null; run size program.o; run ar rcD lib.a program.o empty.o; run ld -r -o all.o program.o empty.o", ["objdump"]),
    Program("diff", "sed s/ab/ba/ text > other; run diff text other | md5sum; run cmp text other; echo $?; run diff3 text other text | md5sum", ["diff"]),
    Program("file", "run file text main.c data.bin sound.wav; run file -b --mime-type data.xml"),
    Program("loader", "run /lib64/ld-linux-x86-64.so.2 /bin/echo by hand; run /lib64/ld-linux-x86-64.so.2 --list /bin/true | grep -vc vdso; run ldd /bin/true | grep -vc vdso", []),
    Program("script", "printf '#!/usr/bin/env -S awk -f\\nBEGIN { print \"from awk\", ARGV[1] }\\n' > s; chmod +x s; run ./s one; printf '#!./s\\n' > t; chmod +x t; run ./t; echo $?; "
            "printf 'echo no header\\n' > u; chmod +x u; run bash -c ./u; run sh -c './u; exec ./u'", []),
]


def wave(rnd):
    """A short sound: a header and 16-bit samples."""
    samples = b"".join(struct.pack("<h", int(9000 * ((i % 97) / 97 - 0.5) + rnd.randrange(-500, 500))) for i in range(44100))
    return (b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 44100, 88200, 2, 16) +
            b"data" + struct.pack("<I", len(samples)) + samples)


def make_inputs(folder):
    os.makedirs(folder, exist_ok=True)
    rnd = random.Random(5)
    words = ["".join(rnd.choice("abcdefgh") for _ in range(rnd.randrange(1, 8))) for _ in range(900)]
    files = {
        "text": "".join(" ".join(rnd.choices(words, k=9)) + "\n" for _ in range(4000)),
        "data.xml": "<a>" + "".join("<b c='%d'><d/>%s</b>" % (i, words[i % 900]) for i in range(2000)) + "</a>",
        "data.json": "[" + ",".join('{"n": %d, "w": "%s"}' % (i, words[i % 900]) for i in range(3000)) + "]",
        "data.bin": bytes(rnd.randrange(256) if i % 3 else i // 999 % 256 for i in range(1500000)),
        "sound.wav": wave(rnd),
        "main.c": "#include <stdio.h>\nint f40(int *, int);\nint main(void)\n{\n\tint a[64];\n\tfor (int i = 0; i < 64; i++)\n"
                  "\t\ta[i] = i * 7919 % 61;\n\tprintf(\"%d\\n\", f40(a, 50));\n\treturn 3;\n}\n",
        "program.c": "".join("int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) s += a[i] * i; "
                             "return s %% 7 ? s : f%d(a, n / 2); }\n" % (i + 1, i, i) if i else
                             "int f1(int *a, int n) { return a[n]; }\n" for i in range(40)),
        "broken.c": "int f(void) { return }\n",
        "main.f90": "program p\n integer :: i\n real(8) :: s\n s = 0\n do i = 1, 100000\n  s = s + sin(real(i, 8)) / i\n end do\n"
                    " print '(f12.8)', s\nend program\n",
        "makefile": "all: one two\n\t@echo all done\none two: dir\n\t@echo $@ | tr a-z A-Z >> dir/$@\ndir:\n\t@mkdir dir\n",
        "main.py": PYTHON, "script.sh": BASH, "exceptions.cpp": CPP, "main.rs": RUST, "openmp.c": OPENMP, "main.lua": LUAJIT,
        "main.js": NODE, "workers.js": NODE_WORKERS, "fork.pl": PERL_FORK,
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
