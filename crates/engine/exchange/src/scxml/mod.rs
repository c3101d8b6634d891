//! W3C SCXML: import and export.
//!
//! Features that SCXML lacks are written in a separate namespace: attributes such as `il:limit` and elements such as
//! `il:invoke`. Tools that do not know it see a plain statechart. A document whose root has `il:version` was written by
//! [`export`] and describes its machine completely. In any other document, every event may be raised by any source, and
//! expressions are imported if they are CEL.

mod address;
mod content;
mod data;
mod export;
mod faults;
mod foreach;
mod import;
mod payload;
mod script;
mod states;
mod write;

pub(super) use export::export;
pub(super) use import::import;

/// The namespace of SCXML.
const SCXML: &str = "http://www.w3.org/2005/07/scxml";
/// The namespace of our additions.
const OURS: &str = "https://interlock.dev/ns/scxml";
