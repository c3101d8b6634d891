//! Repair by templates: ranks suspect lines of C code, and proposes small changes of them.
//!
//! The crate is pure: text in, candidates out. It does not build, run or write anything; the caller of a [`Search`]
//! does, and reports the result of each candidate. A repair that makes every case pass is *plausible*, not proven:
//! [`believed`] estimates the probability that it is correct, and [`confidence`] ranks several repairs.
//!
//! - [`localise`]: turns the coverage of failing and passing cases, and named places, into ranked [`Suspect`]s.
//! - [`candidates`]: applies the templates to the syntax tree of suspect places and ranks the results, each once.
//! - [`Search`]: returns one candidate after the other; the result of each changes the order of the rest.
//! - [`observe`]: prints the arguments and results of functions, for a failure that nothing printed explains.
//! - [`doubts`]: finds changes that a person must read before they are delivered, whatever the test results are.
#![forbid(unsafe_code)]

mod candidates;
mod confidence;
mod declared;
mod diff;
mod doubts;
mod edit;
mod hints;
mod localise;
mod observe;
mod places;
mod search;
mod siblings;
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
pub use observe::{Function, OBSERVED, Observation, Printer, functions, observe, printers};
pub use search::{Search, TRIALS_MAX, Trial};
pub use template::Template;
