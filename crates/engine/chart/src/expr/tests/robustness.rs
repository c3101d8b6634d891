//! Robustness: no text makes the reader panic, overflow the stack or hang.

use super::{START, read, span};
use crate::expr::{
    Names, Node, Scope, Type,
    parse::lower,
    syntax::{self, read_quickly},
};

/// The number of texts that each random test tries.
const ROUNDS: usize = 10_000;

#[test]
fn long_chains_are_refused_and_chains_at_the_bound_are_read() {
    let chains: [(&str, &str, &str); 9] = [
        ("context.a", "+context.a", ""),
        ("", "!", "true"),
        ("", "(", "1"),
        ("context", ".b", ""),
        ("", "true?1:", "2"),
        ("", "[", "1"),
        ("context", "[0]", ""),
        ("", "-", "context.a"),
        ("", "true && ", "true"),
    ];
    for (head, link, tail) in chains {
        for links in [20_000, 300] {
            let problems = read(&format!("{head}{}{tail}", link.repeat(links))).unwrap_err();
            assert_eq!(problems[0].code, "E0302", "{link}");
        }
        let closing = link.replace('[', "]").replace('(', ")");
        let closed = if "([".contains(link) { closing.repeat(64) } else { String::new() };
        assert!(read(&format!("{head}{}{tail}{closed}", link.repeat(64))).is_ok(), "{link}");
    }
}

/// A small random generator with a fixed seed, so that every test run tries the same texts.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.roll(items.len())]
    }
}

const PIECES: [&str; 66] = [
    "a",
    "context",
    "input",
    "event",
    "_event",
    "state",
    "count",
    ".",
    ".x",
    ".name",
    ".data",
    ".IDLE",
    ".visits",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">=",
    "&&",
    "||",
    " in ",
    "=",
    "&",
    "'",
    "\"",
    "'''",
    "'x'",
    "r'\\'",
    "b'x'",
    "\\",
    "\\u12",
    "'\\x4'",
    "'\\U00110000'",
    "0",
    "1u",
    "1.5",
    "1e",
    "0x",
    "99999999999999999999",
    "null",
    "true",
    "has(",
    ".all(x,",
    ".map(x, y,",
    ".exists(",
    "size(",
    "In('IDLE'",
    "é",
    "\u{1f600}",
    "\n",
    "//",
];

const WHOLE: [&str; 8] = [
    "context.list.all(x, x.a > input.least && has(x.b)) || event.ok",
    "state.IDLE.visits < 3 ? 'a' + \"b\" : r'''c'''",
    "{'a': [1, 2.5e-3, -7, 0x1F], 'b': null}['a'][0] in [1u, 2]",
    "context.list.filter(x, x in ['é', 'ü']).map(y, y.size() % 2 == 0)",
    "has(_event.data.code) && !In('IDLE') // why",
    "_event.name.startsWith('error') && count.fixes >= 2",
    "string(1) + b'\\xff' == type(context.a[b'x'])",
    "Point{x: 1, y: .input}.x - -1",
];

/// Checks that the quick parser and the reference parser return the same tree if both return one.
fn parsers_agree(source: &str) {
    let names = Names { states: &["IDLE".to_owned()], counters: &["fixes".to_owned()] };
    let quick = read_quickly(source, span(source)).and_then(|syntax| lower(&syntax, &names).ok());
    let Some(quick) = quick.filter(|node| !matches!(node, Node::Opaque(_))) else { return };
    match syntax::read(source, span(source)) {
        Ok(reference) => assert_eq!(lower(&reference, &names).as_ref(), Ok(&quick), "{source:?}"),
        Err(problems) => panic!("{source:?} is {quick:?} only for the quick parser: {problems:?}"),
    }
}

/// Checks that reading and checking do not panic, and that every problem lies inside the text at character boundaries.
fn survives(source: &str) {
    let kind = Type::open_map();
    let scope = Scope { input: &kind, context: &kind, event: &kind };
    let problems = match read(source) {
        Ok(expr) => super::super::check(&expr, &scope, Some(&Type::Bool)).1,
        Err(problems) => {
            assert!(!problems.is_empty(), "{source:?}");
            problems
        }
    };
    for problem in problems {
        let [start, end] = [problem.span.start, problem.span.end].map(|at| usize::try_from(at - START).unwrap());
        assert!(source.get(start..end).is_some(), "{source:?}: {problem:?}");
    }
    parsers_agree(source);
    let _ = super::super::qualify(source, &["a".to_owned(), "x".to_owned()]);
}

#[test]
fn both_parsers_agree_on_signs_numbers_and_strings() {
    let sources = r##"
        -1|- 1|--1|-(-1)|1 - -1|1 - - 1|-9223372036854775808|9223372036854775808|-0x1F|0X1F|1.|.5|-1.5|1.e3|5e-324|1e999
        !-1|! - context.a|-!context.a|!!!context.a|- -context.a|-context.a.b[0]|!has(context.a.b)
        '\400'|'a¶b'|'''a¶b'''|r'\n'|R"x"|'\101\x41\u0041\U00000041'|'\?\`\a'|"\""|''|''''''|'\ud800'|'a' 'b'
        [1,]|{'a': 1,}|[]|{}|context.a.in|context.in|context.null|context.if|in|true.a|1 2
        1 == 1 == true|1 < 2 < 3|1 + 2 - 3 * 4 / 5 % 6|context.a in [1] == true
        context.a ? 1 : true ? 3 : 4|context.a ? context.b ? 1 : 2 : 3
        true && false || true && true || false|true || false || true || false|true && (true && true) && true
        (context).a|.context.a|context . a|context.`a`|context.?a|[?1]|In('IDLE')|.In('IDLE')|size('x')|// x|1 // x|1 // x¶ + 2
    "##;
    for source in sources.lines().flat_map(|line| line.trim().split('|')) {
        parsers_agree(&source.replace('¶', "\n"));
    }
    parsers_agree("true || false");
    parsers_agree("1\r\n+\t2");
    parsers_agree("\u{a0}1");
}

#[test]
fn random_pieces_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..ROUNDS {
        let length = 1 + dice.roll(10);
        survives(&(0..length).map(|_| *dice.pick(&PIECES)).collect::<String>());
    }
}

#[test]
fn mutated_expressions_never_panic() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for _ in 0..ROUNDS {
        let mut text: Vec<char> = dice.pick(&WHOLE).chars().collect();
        for _ in 0..=dice.roll(3) {
            let at = dice.roll(text.len());
            match dice.roll(4) {
                0 => _ = text.remove(at),
                1 => text[at] = dice.pick(&PIECES).chars().next().unwrap(),
                2 => _ = text.splice(at..at, dice.pick(&PIECES).chars()).count(),
                _ => text.truncate(at + 1),
            }
            if text.is_empty() {
                break;
            }
        }
        survives(&text.into_iter().collect::<String>());
    }
}
