//! W3C SCXML.
//!
//! What SCXML has no word for travels in a namespace of our own: attributes such as `il:limit` and elements such as
//! `il:invoke`. Tools that do not know it see a plain statechart. A document whose root has `il:version` was written by
//! [`export`] and says everything about its machine; in any other, every event may be raised by anybody, and expressions are
//! taken over where they are CEL.

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
