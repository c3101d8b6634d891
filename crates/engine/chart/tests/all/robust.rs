//! Robustness: no file makes the reader panic, hang, or overflow the stack.

#![allow(clippy::disallowed_methods, reason = "whether reading hangs can only be seen on a clock")]

use interlock_chart::yaml::{self, code, limits};
use std::time::{Duration, Instant};

const GOOD: &str = include_str!("../good/everything.yaml");

fn first_code(source: &str) -> &'static str {
    let reading = yaml::read(source);
    assert!(reading.chart.is_none());
    reading.diagnostics.iter().find(|problem| problem.is_error()).unwrap().code
}

#[test]
fn a_file_that_is_too_large_is_refused_at_once() {
    let begun = Instant::now();
    assert_eq!(first_code(&"x".repeat(10_000_000)), code::FILE_TOO_LARGE);
    assert_eq!(yaml::read_bytes(&vec![0xff; 10_000_000]).diagnostics[0].code, code::FILE_TOO_LARGE);
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_file_that_is_not_utf8_is_refused_at_its_first_wrong_byte() {
    let reading = yaml::read_bytes(b"machine: m\nsummary: \xff\n");
    assert_eq!((reading.diagnostics[0].code, reading.diagnostics[0].span.start), (code::NOT_UTF8, 20));
}

#[test]
fn deep_nesting_is_refused() {
    let mut block = String::from("machine: m\nversion: 1\ninput:\n");
    (0..5_000).for_each(|depth| block.push_str(&format!("{}a:\n", " ".repeat(depth.min(90) + 1))));
    let cases = ["[".repeat(200_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000), block];
    for source in cases {
        let reading = yaml::read(&source);
        assert!(reading.chart.is_none() && !reading.diagnostics.is_empty());
    }
    assert_eq!(first_code(&format!("a: {}{}", "[".repeat(70), "]".repeat(70))), code::TOO_DEEP);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut source = String::from("a0: &a0 [x, x]\n");
    (1..30).for_each(|n| source.push_str(&format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)));
    let problems = yaml::read(&source).diagnostics;
    assert_eq!(problems.iter().filter(|problem| problem.code == code::NOT_LITERAL).count(), 30 + 2 * 29);
}

#[test]
fn too_many_values_are_refused() {
    assert_eq!(first_code(&format!("a: [{}]", "1,".repeat(limits::NODES_MAX + 1))), code::TOO_MANY);
    let targets = "a,".repeat(limits::TARGETS_MAX + 1);
    let source =
        format!("machine: m\nversion: 1\ninitial: a\nstates: {{ a: {{ always: {{ target: [{targets}] }} }} }}");
    assert_eq!(first_code(&source), code::TOO_MANY);
}

#[test]
fn a_file_of_twenty_thousand_lines_is_read_in_time() {
    let mut source = String::from("machine: big\nversion: 1\ninitial: s0\nevents: { go: { from: user } }\nstates:\n");
    for n in 0..4_000 {
        let next = (n + 1) % 4_000;
        source.push_str(&format!("  s{n}:\n    invoke: {{ activity: x, signals: [ok{}] }}\n    on:\n", n % 7));
        source.push_str(&format!(
            "      go: s{next}\n      ok{}: {{ target: s{next}, guard: state.s{n}.visits < 3 }}\n",
            n % 7
        ));
    }
    assert!(source.lines().count() > 20_000);
    let begun = Instant::now();
    let reading = yaml::read(&source);
    assert!(reading.chart.is_some(), "{:?}", reading.diagnostics.first());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A small random generator with a fixed seed, so that every run makes the same mutations.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn mutated_files_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let spice: &[&[u8]] = &[
        b"\t",
        b"\n",
        b": ",
        b"- ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"&a ",
        b"*a",
        b"!!x ",
        b"${",
        b"}",
        b"'",
        b"\"",
        b"|",
        b">",
        b"#",
        b"\xc3\xa9",
        b"\xff",
        b"%",
        b"---\n",
        b"\xef\xbb\xbf",
    ];
    for _ in 0..1_500 {
        let mut bytes = GOOD.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = random.below(256) as u8,
                2 => bytes.truncate(at.max(1)),
                _ => drop(bytes.splice(at..at, spice[random.below(spice.len())].iter().copied())),
            }
        }
        let reading = yaml::read_bytes(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let errors = reading.diagnostics.iter().any(|problem| problem.is_error());
        assert_eq!(reading.chart.is_none(), errors, "{text}");
        for problem in reading.diagnostics.iter().take(5) {
            interlock_chart::diagnostic::render(problem, "m", &text, false);
        }
    }
}
