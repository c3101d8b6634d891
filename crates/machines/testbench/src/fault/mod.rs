//! Firmware faults: found in the output, and located by file and line with the ELF file.

mod dump;
mod elf;
mod sizes;
mod symbols;

pub use dump::{Patterns, faults, registers};
pub use elf::Image;
pub use sizes::{Sizes, sizes};
pub use symbols::{SourceLocation, Symbols};
