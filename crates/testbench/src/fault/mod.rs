//! Faults of a firmware: found in what it printed, and told by file and line with the help of its ELF file.

mod dump;
mod elf;
mod sizes;
mod symbols;

pub use dump::{Patterns, faults, registers};
pub use elf::Image;
pub use sizes::{Sizes, sizes};
pub use symbols::{Place, Symbols};
