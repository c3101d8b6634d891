//! Texts that people and models write, and texts that hide a command.

use std::collections::BTreeSet;

use interlock_testkit_shell::{Bash, missed, programs};

/// The texts: blocks that are separated by a line `---`. The fuzz target starts from the same file.
const TEXTS: &str = include_str!("../../corpus/texts.sh");

#[test]
fn reader_finds_every_command_that_the_grammar_finds() {
    let mut bash = Bash::new().unwrap();
    let mut compared = 0;
    for text in TEXTS.split("---\n") {
        let Some(missed) = missed(&mut bash, text) else { panic!("the grammar does not accept this text:\n{text}") };
        assert_eq!(missed, BTreeSet::new(), "missed in:\n{text}");
        compared += bash.commands(text).unwrap().list.len();
    }
    assert!(compared >= 100, "only {compared} commands were compared");
}

#[test]
fn comparison_notices_a_missed_command() {
    // The reader does not look into the text of a here document that nothing executes, and neither may the grammar.
    let mut bash = Bash::new().unwrap();
    assert_eq!(missed(&mut bash, "cat <<'E'\nhidden x\nE\n"), Some(BTreeSet::new()));
    assert_eq!(missed(&mut bash, "if ; then"), None);
    assert!(programs("tool_a; (tool_b)").names.contains("tool_b"));
    let commands = bash.commands("tool_a \"$(tool_b)\" && f() { tool_c; }").unwrap();
    let names: Vec<_> = commands.list.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["tool_a", "tool_b", "tool_c"]);
    assert!(commands.functions.contains("f"));
}
