//! Admission: what an attempt is about to do, and who decides if it may start.
//!
//! Every [`Activity`](crate::Activity) states its requests, and says so if it makes none. A [`Registry`](crate::Registry)
//! starts an attempt only after its [`Gatekeeper`] has allowed them; `crates/world/activities` has the one that asks policy.

use std::path::Path;

use interlock_chart::Value;
use interlock_policy::Request;

use crate::{Attempt, Future, Outcome};

/// The requests of an attempt, or its outcome if they cannot be stated: such an attempt does not start.
pub type Requests = Result<Vec<Request>, Outcome>;

/// All that the requests of an attempt follow from.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The data that the machine gives the activity under `with`.
    pub with: &'a Value,
    /// The directory that the run works in.
    pub folder: &'a Path,
}

impl<'a> Site<'a> {
    /// The site of an attempt.
    pub fn of(attempt: &'a Attempt) -> Self {
        Site { with: &attempt.with, folder: &attempt.folder }
    }
}

/// Decides if attempts may start.
pub trait Gatekeeper: Send + Sync + 'static {
    /// Allows an attempt to make all of these requests, or returns its outcome.
    fn admit(&self, attempt: &Attempt, requests: Vec<Request>) -> Future<Result<(), Outcome>>;
}
