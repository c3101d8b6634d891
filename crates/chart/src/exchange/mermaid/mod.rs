//! Mermaid's `stateDiagram-v2`: a picture of a chart, and a chart from a picture.
//!
//! A diagram says which states there are and what leads from one to another, and hardly more. So an export is for looking at, and
//! an import is the outline of a machine to be filled in:
//!
//! - A label becomes an event by its words, with the label as the reason; anybody may raise it.
//! - `[…]` in a label, and a label on an arrow out of a choice, become a variable that is false until something assigns it:
//!   nobody here knows what the words would mean as a condition.
//! - An arrow without a label is taken at once where it is the only one; a composite's, when the composite is done; where there
//!   are several, each waits for an event `to_TARGET`.
//! - A note, or the description of a state, becomes its summary.

mod build;
mod export;
mod label;
mod parse;

pub(super) use build::import;
pub(super) use export::{export, transition_label};
