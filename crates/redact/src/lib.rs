//! What must not be kept: secrets in text, and the mark that takes their place.
//!
//! A secret is known by its form (`ghp_…`, a private key's block), by the name beside it (`password=…`, `--token …`) or by its value, where
//! somebody said what the values are. It is replaced by `[redacted: kind]`. What only looks like one stays: hashes, checksums,
//! UUIDs, placeholders, names of variables. Pure: no file, no clock, no environment; the time is linear in the text.
//!
//! `redactor.rs` goes through a text; `shapes.rs`, `names.rs`, `commands.rs` and `blocks.rs` each know one kind of sign; `value.rs` tells a
//! secret from its look-alikes; `stream.rs` is for bytes that come in pieces.

mod blocks;
mod commands;
mod hints;
mod json;
mod known;
mod names;
mod redactor;
mod shapes;
mod stream;
mod value;
mod words;

pub use redactor::{Redactor, redact};
pub use stream::{Reader, Stream};
