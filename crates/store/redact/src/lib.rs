//! Redaction: finds secrets in text and replaces them by marks, so that they are never stored.
//!
//! A secret is recognised by its form (`ghp_…`, the block of a private key), by the name beside it (`password=…`,
//! `--token …`), or by its value, if the caller provides the values. It is replaced by `[redacted: kind]`. Look-alikes
//! stay: hashes, checksums, UUIDs, placeholders, names of variables. The crate is pure: no file, no clock, no
//! environment; the time is linear in the text.
//!
//! `redactor.rs` scans a text; `shapes.rs`, `names.rs`, `commands.rs` and `blocks.rs` each handle one kind of evidence;
//! `value.rs` distinguishes a secret from its look-alikes; `environment.rs` selects the secrets among variables; `escapes.rs` handles colours within a text, `stream.rs` bytes
//! that arrive in pieces.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod blocks;
mod commands;
mod environment;
mod escapes;
mod hints;
mod json;
mod known;
mod multiline;
mod names;
mod redactor;
mod shapes;
mod stream;
mod value;
mod words;

pub use environment::secrets_of;
pub use redactor::{Redactor, redact};
pub use stream::{Reader, Stream};
