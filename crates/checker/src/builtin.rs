//! The built-in machines, proved beforehand.
//!
//! `proved.txt` lists the definitions that this checker has proved, so that the program starts a built-in machine without exploring it.
//! `tests/builtin.rs` proves every one of them and holds the list against the machines as they are. A machine that has changed since is not
//! in the list and is explored like any other.

/// The machines' names and the hashes of their definitions, one to a line.
const PROVED: &str = include_str!("proved.txt");

/// Whether this very definition is one of a built-in machine and was proved beforehand.
pub fn is_proved_builtin(machine: &str, definition: &str) -> bool {
    PROVED.lines().any(|line| line.split_once(' ') == Some((machine, definition)))
}
