//! Whether `check` accepts a machine: one verdict for `check`, `run`, `fork` and `run.start`.
//!
//! [`outside::check`] explores a machine and looks at its border, and [`refusals`] says what counts against it. Exploring takes up to
//! seconds, so [`Proofs`] does it once for every definition: built-in machines were proved beforehand, the verdicts on others are kept in
//! the store (`cache.rs`). A kept verdict is only used for the same definition, found by the same checker. The border depends on the
//! activities and machines there are now, and is looked at every time.

mod cache;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_chart::Chart;
use interlock_checker::{Options, Outside, Report, check_within, is_proved_builtin};
use interlock_runtime::{Loaded, Prover};

use crate::outside::{self, Explored};

/// The reasons for which an exploration refuses a machine, one sentence each; none if it is proved.
pub(crate) fn refusals(report: &Report) -> Vec<String> {
    let broken = report.properties.iter().filter(|proof| !proof.ok && proof.counterexample.is_some());
    let broken = broken.map(|proof| format!("the property `{}` does not hold", proof.name));
    let problems = report.problems.iter().filter(|problem| problem.is_error);
    let problems = problems.map(|problem| format!("{}: {}", problem.code, problem.message));
    let refusals: Vec<String> = broken.chain(problems).collect();
    match (report.ok, refusals.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) => refusals,
        // Whatever the report holds against the machine, it is refused.
        (false, true) => vec!["not everything it promises was proved".to_owned()],
    }
}

/// The verdicts of `check`, each found once.
#[derive(Debug)]
pub(crate) struct Proofs {
    home: PathBuf,
}

impl Proofs {
    /// Those of the store in this folder.
    pub(crate) fn new(home: &Path) -> Self {
        Proofs { home: home.to_owned() }
    }

    fn explored(&self, chart: &Arc<Chart>, outside: &Outside<'_>, folder: &Path) -> Vec<String> {
        let definition = &chart.hash;
        if is_proved_builtin(&chart.id, definition) {
            return Vec::new();
        }
        // Programs of a run may change what lies in its folder.
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
    fn refusals(&self, loaded: &Loaded, folder: &Path) -> Vec<String> {
        let explore = |chart: &Arc<Chart>, outside: &Outside<'_>| {
            // Bounds are not asked for here, only whether there are some.
            Explored { refusals: self.explored(chart, outside, folder), report: None }
        };
        let (chart, files) = (loaded.machine.shared_chart(), &loaded.definition.files);
        outside::check(&chart, files, folder, &explore).refusals()
    }
}

fn is_within(inner: &Path, outer: &Path) -> bool {
    match (inner.canonicalize(), outer.canonicalize()) {
        (Ok(inner), Ok(outer)) => inner.starts_with(outer),
        // A folder that is not there has no programs in it.
        _ => false,
    }
}
