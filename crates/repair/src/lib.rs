//! Repair by templates: which lines of C are suspect, and which small changes of them are worth trying.
//!
//! Pure: text in, candidates out. Nothing here builds, runs or writes; whoever drives a [`Search`] does, and tells it what
//! came of each candidate. A repair that makes every case pass is *plausible*, not proven: [`believed`] says how much
//! it is worth, and [`confidence`] ranks several.
//!
//! - [`localise`]: coverage of failing against passing cases, and places that were named, into ranked [`Suspect`]s.
//! - [`candidates`]: the templates on the syntax tree of what is suspect, ranked, each once.
//! - [`Search`]: one candidate after the other; what came of one moves the rest.
//! - [`doubts`]: changes that a person has to read before they are delivered, whatever the tests say.
#![forbid(unsafe_code)]

mod candidates;
mod confidence;
mod declared;
mod diff;
mod doubts;
mod edit;
mod hints;
mod localise;
mod places;
mod search;
mod source;
mod symbols;
mod template;
mod templates;

pub use candidates::{CANDIDATES_MAX, Candidate, Candidates, candidates};
pub use confidence::{MEASURED_MAX, believed, confidence};
pub use diff::unified;
pub use doubts::{Change, Doubt, DoubtKind, FailingTests, doubts};
pub use edit::{Edit, apply};
pub use hints::{Failure, Hints};
pub use localise::{Coverage, Named, Suspect, is_test, localise};
pub use search::{Search, TRIALS_MAX, Trial};
pub use template::Template;
