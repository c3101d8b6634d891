//! The definition of a machine.
//!
//! This crate reads machine files, resolves and validates them, describes them and writes them back. Its reader returns one
//! value, the [`Chart`]: a statechart with every name resolved to an index, ready to be compiled and stepped by
//! `interlock-core`.
//!
//! The crate does not execute machines, and it does not know their effects or the storage of their runs. `interlock-draw`
//! draws charts, and `interlock-exchange` reads and writes other statechart formats.

pub mod canonical;
pub mod catalogue;
mod count;
pub mod describe;
pub mod diagnostic;
pub mod expr;
pub mod file;
pub mod library;
pub mod model;
pub mod schema;
pub mod unresolve;
pub mod value;
pub mod yaml;

pub use catalogue::Catalogue;
pub use count::counted;
pub use diagnostic::{Diagnostic, Severity, Span};
pub use model::Chart;
pub use value::Value;
