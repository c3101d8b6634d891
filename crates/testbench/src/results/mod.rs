//! What test frameworks print, in one form. One file per format; `form.rs` is the form.

mod form;

pub use form::{Case, Location, Parsed, Status};
