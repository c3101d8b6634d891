//! Damaged documents: an importer accepts or refuses every text, and an accepted machine can be written and read.

use interlock_chart::yaml;
use interlock_exchange::{self as exchange, Format, import};

/// A random generator (xorshift) with a fixed seed, so that failures are reproducible.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

/// Cuts, doubles, swaps and overwrites pieces of a text.
fn damaged(text: &str, numbers: &mut Numbers) -> String {
    const PIECES: [&str; 16] = [
        "<",
        ">",
        "\"",
        "'",
        "{",
        "}",
        "[*]",
        "-->",
        "--",
        "<state>",
        "null",
        "${",
        "#x.",
        "\u{fffd}",
        "&#0;",
        "state x {\n",
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=numbers.below(4) {
        let (from, length) = (numbers.below(letters.len()), numbers.below(40));
        let to = (from + length).min(letters.len());
        match numbers.below(4) {
            0 => drop(letters.drain(from..to)),
            1 => {
                let piece: Vec<char> = letters[from..to].to_vec();
                let at = numbers.below(letters.len() + 1);
                letters.splice(at..at, piece);
            }
            2 => {
                let piece = PIECES[numbers.below(PIECES.len())];
                letters.splice(from..from, piece.chars());
            }
            _ => {
                let other = numbers.below(letters.len());
                if from < letters.len() {
                    letters.swap(from, other);
                }
            }
        }
        if letters.is_empty() {
            break;
        }
    }
    letters.into_iter().collect()
}

fn check(format: Format, rounds: usize) {
    let chart = yaml::read(include_str!("../exchange/everything.yaml")).chart.unwrap();
    let text = exchange::export(&chart, format).text;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..rounds {
        let text = damaged(&text, &mut numbers);
        match import(&text, Some(format), "damaged") {
            Ok(imported) => {
                accepted += 1;
                let _ = yaml::read(&yaml::write(&imported.file));
            }
            Err(problems) => {
                refused += 1;
                assert!(!problems.is_empty());
                assert!(problems.iter().all(|problem| problem.code.starts_with("E05")), "{problems:?}");
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused: the damage teaches nothing");
}

#[test]
fn damaged_scxml_is_read_or_refused() {
    check(Format::Scxml, 400);
}

#[test]
fn damaged_xstate_is_read_or_refused() {
    check(Format::Xstate, 400);
}

#[test]
fn damaged_mermaid_is_read_or_refused() {
    check(Format::Mermaid, 400);
}

#[test]
fn the_format_is_guessed_from_name_or_beginning() {
    let cases = [
        ("<scxml/>", "x", Some(Format::Scxml)),
        ("{}", "", Some(Format::Xstate)),
        ("%% hello\nstateDiagram-v2\n", "x.txt", Some(Format::Mermaid)),
        ("digraph x { a -> b }", "x", Some(Format::Dot)),
        ("{}", "x.scxml", Some(Format::Scxml)),
        ("", "a/b.json", Some(Format::Xstate)),
        ("machine: x", "x.yaml", None),
    ];
    for (text, name, expected) in cases {
        assert_eq!(Format::guess(text, name), expected, "{text} {name}");
    }
    assert_eq!(import("machine: x", None, "x.yaml").unwrap_err()[0].code, "E0506");
    assert_eq!(import("digraph {}", Some(Format::Dot), "x").unwrap_err()[0].code, "E0506");
    assert_eq!(Format::ALL.map(|format| Format::from_word(format.word())), Format::ALL.map(Some));
}
