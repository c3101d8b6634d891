//! The verdict of `check` on a machine, the same for `check`, `run`, `fork` and `run.start`.
//!
//! [`outside::check`] explores a machine and checks its border with the environment, and [`refusals`] returns the
//! reasons against it. Exploring takes up to seconds, so [`Proofs`] does it once for every definition: built-in
//! machines were proved beforehand, the verdicts on others are cached in the store (`cache.rs`). A cached verdict is
//! used only for the same definition and the same checker. The border depends on the activities and machines that are
//! installed now, and is checked every time.

mod cache;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_chart::Chart;
use interlock_checker::{Options, Outside, Report, check_within, is_proved_builtin};
use interlock_runtime::{LoadedMachine, Prover};

use crate::outside::{self, Explored};

/// Returns the reasons for which an exploration refuses a machine, one sentence each; none if it is proved.
pub(crate) fn refusals(report: &Report) -> Vec<String> {
    let broken = report.properties.iter().filter(|proof| !proof.ok && proof.counterexample.is_some());
    let broken = broken.map(|proof| format!("the property `{}` does not hold", proof.name));
    let problems = report.problems.iter().filter(|problem| problem.is_error);
    let problems = problems.map(|problem| format!("{}: {}", problem.code, problem.message));
    let refusals: Vec<String> = broken.chain(problems).collect();
    match (report.ok, refusals.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) => refusals,
        // A machine that is not proved is refused even if the report names no reason.
        (false, true) => vec!["not all of its properties were proved".to_owned()],
    }
}

/// The verdicts of `check`, each computed once.
#[derive(Debug)]
pub(crate) struct Proofs {
    home: PathBuf,
}

impl Proofs {
    /// Returns the verdicts of the store in this directory.
    pub(crate) fn new(home: &Path) -> Self {
        Proofs { home: home.to_owned() }
    }

    fn explored(&self, chart: &Arc<Chart>, outside: &Outside<'_>, folder: &Path) -> Vec<String> {
        let definition = &chart.hash;
        if is_proved_builtin(&chart.id, definition) {
            return Vec::new();
        }
        // Programs of a run may change files in its directory, so a cache in there is not trusted.
        let cache = Some(cache::Cache::new(&self.home)).filter(|_| !is_within(&self.home, folder));
        if let Some(known) = cache.as_ref().and_then(|cache| cache.get(definition)) {
            return known;
        }
        let found = refusals(&check_within(Arc::clone(chart), outside, &Options::default()));
        if let Some(cache) = &cache {
            cache.put(definition, &found);
        }
        found
    }
}

impl Prover for Proofs {
    fn refusals(&self, loaded: &LoadedMachine, folder: &Path) -> Vec<String> {
        let explore = |chart: &Arc<Chart>, outside: &Outside<'_>| {
            // Only the refusals are needed here, not the bounds.
            Explored { refusals: self.explored(chart, outside, folder), report: None }
        };
        let (chart, files) = (loaded.machine.shared_chart(), &loaded.definition.files);
        outside::check(&chart, files, folder, &explore).refusals()
    }
}

fn is_within(inner: &Path, outer: &Path) -> bool {
    match (inner.canonicalize(), outer.canonicalize()) {
        (Ok(inner), Ok(outer)) => inner.starts_with(outer),
        // If a directory does not exist, no program runs in it.
        _ => false,
    }
}
