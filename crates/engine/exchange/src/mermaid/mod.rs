//! Mermaid's `stateDiagram-v2`: export of a chart as a diagram, and import of a diagram as a machine.
//!
//! A diagram shows the states and the arrows between them, and little else. So an export is only a picture, and an
//! import is the outline of a machine that must be completed:
//!
//! - A label becomes an event named after its text, with the label as the reason. Any source may raise the event.
//! - `[…]` in a label, and a label on an arrow out of a choice, become a variable that is false until something assigns
//!   it, because the importer cannot know the condition that the text describes.
//! - An arrow without a label is taken at once if it is the only one. The arrow of a composite is taken when the
//!   composite is done. If there are several arrows, each waits for an event `to_TARGET`.
//! - A note, or the description of a state, becomes its summary.

mod build;
mod export;
mod label;
mod parse;

pub(super) use build::import;
pub(super) use export::{export, transition_label};
