//! The built-in machines, proved in advance.
//!
//! `proved.txt` lists the definitions that this checker has proved, so that the program starts a built-in machine
//! without exploring it. `tests/all/builtin.rs` proves every one of them and compares the list with the current machines.
//! If a machine has changed since, it is not in the list and is explored like any other.

/// The names of the machines and the hashes of their definitions, one machine per line.
const PROVED: &str = include_str!("proved.txt");

/// Returns true if exactly this definition belongs to a built-in machine and was proved in advance.
pub fn is_proved_builtin(machine: &str, definition: &str) -> bool {
    PROVED.lines().any(|line| line.split_once(' ') == Some((machine, definition)))
}
