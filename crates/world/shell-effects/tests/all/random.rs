//! Random scripts, nested up to four levels. Every command in them has a name that the generator knows, so the reader is
//! checked against the generator as well as against the grammar.

use std::{cell::RefCell, collections::BTreeSet};

use interlock_testkit_shell::{Bash, missed, programs};
use proptest::{prelude::*, sample::select};

const NAMES: [&str; 8] = ["tool_a", "tool_b", "tool_c", "./tool_d", "/opt/bin/tool_e", "tool-f", "tool_g", "tool_h"];
const WORDS: [&str; 10] = ["a", "'b c'", "\"d e\"", "$HOME", "\"$x\"", "${x:-y}", "$((1 + 2))", "-o", "\\;", "$'f\\n'"];
const REDIRECTS: [&str; 7] = ["", ">out", ">>out", "<in", "2>&1", "2>/dev/null", ">out 2>&1"];

thread_local! {
    static BASH: RefCell<Bash> = RefCell::new(Bash::new().unwrap());
}

/// A program with arguments and a redirection.
fn simple() -> impl Strategy<Value = String> {
    (select(&NAMES[..]), prop::collection::vec(select(&WORDS[..]), 0..3), select(&REDIRECTS[..]))
        .prop_map(|(name, words, redirect)| format!("{name} {} {redirect}", words.join(" ")).trim_end().to_owned())
}

/// A command or a list of commands in any construct that can contain commands.
fn script() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), select(&[" && ", " || ", "; ", " | ", "\n", " & ", " |& "][..]))
                .prop_map(|((a, b), link)| format!("{a}{link}{b}")),
            (two, select(&PAIRS[..])).prop_map(|((a, b), form)| form.replace("%a", &a).replace("%b", &b)),
            (inner.clone(), select(&SINGLES[..])).prop_map(|(a, form)| form.replace("%a", &a)),
            (inner, select(&NAMES[..]), select(&SUBSTITUTIONS[..]))
                .prop_map(|(a, name, form)| format!("{name} {}", form.replace("%a", &a))),
        ]
    })
}

const PAIRS: [&str; 6] = [
    "if %a; then %b; fi",
    "if %a\nthen\n%b\nelse\n%a\nfi",
    "while %a; do %b; done",
    "until %a\ndo\n%b\ndone",
    "case \"$x\" in (a|b) %a;; *) %b;; esac",
    "x=\"$( %a)\"\n%b",
];
const SINGLES: [&str; 7] = [
    "( %a )",
    "{ %a\n}",
    "for i in 1 2; do %a; done",
    "! { %a; }",
    "f() { %a\n}",
    "( # a comment with ' and `\n%a\n)",
    "x=1 y='2 3' cat <<E\ntext $( %a)\nE\n",
];
/// A space follows `$(`, because `$((` begins an arithmetic expression.
const SUBSTITUTIONS: [&str; 5] = ["\"$( %a)\"", "$( %a\n)", "${x:-$( %a)}", "<(%a)", "\"a ${x:-\"$( %a)\"} b\""];

/// Returns the names of the generator that a text contains, without directories.
fn names(text: &str) -> BTreeSet<String> {
    let bases = NAMES.iter().map(|name| (*name, name.rsplit('/').next().unwrap_or(name)));
    bases.filter(|(name, _)| text.contains(name)).map(|(_, base)| base.to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reader_finds_every_command_of_a_random_script(text in script()) {
        let ours = programs(&text);
        let unseen: Vec<_> = names(&text).difference(&ours.names).cloned().collect();
        prop_assert!(unseen.is_empty() || ours.is_unclear, "{unseen:?} in:\n{text}");
        if let Some(missed) = BASH.with_borrow_mut(|bash| missed(bash, &text)) {
            prop_assert!(missed.is_empty(), "{missed:?} in:\n{text}");
        }
    }
}
