//! The environment in which a machine is checked: the activities of this program, the machine's files, and the machines
//! that it starts, which are checked first.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, LazyLock},
};

use interlock_chart::{Catalogue, Chart, Diagnostic, library};
use interlock_checker::{Child, Options, Outside, Report, Started, border, check_within, children};

use crate::{proof::refusals, store::registry};

/// The depth to which machines may start machines.
const DEPTH_MAX: usize = 16;

/// A machine's files besides `machine.yaml`, by path within its directory.
pub(crate) type Files = [(String, Vec<u8>)];

/// The result of exploring a machine, now or earlier.
pub(crate) struct Explored {
    /// The reasons for which the machine is refused.
    pub(crate) refusals: Vec<String>,
    /// The full report, if the machine was explored now.
    pub(crate) report: Option<Report>,
}

/// A function that explores a machine in its environment, or returns an earlier result.
pub(crate) type Explore<'a> = &'a dyn Fn(&Arc<Chart>, &Outside<'_>) -> Explored;

/// All findings of `check` on a machine.
pub(crate) struct Checked {
    /// The result of exploring the machine.
    pub(crate) explored: Explored,
    /// Problems between the machine and its environment, such as an unknown activity.
    pub(crate) border: Vec<Diagnostic>,
}

impl Checked {
    /// Returns the reasons for which the machine is refused, one sentence each; none if it is proved.
    pub(crate) fn refusals(&self) -> Vec<String> {
        let border = self.border.iter().filter(|problem| problem.is_error());
        let border = border.map(|problem| format!("{}: {}", problem.code, problem.message));
        border.chain(self.explored.refusals.iter().cloned()).collect()
    }
}

/// Returns the catalogue of this program's activities.
pub(crate) fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| registry().catalogue());
    &CATALOGUE
}

/// Checks a machine in a directory, after the machines that it starts.
pub(crate) fn check(chart: &Arc<Chart>, files: &Files, folder: &Path, explore: Explore<'_>) -> Checked {
    Look { folder, explore }.check(chart, files, &mut vec![(chart.hash.clone(), chart.id.clone())]).0
}

/// Explores a machine without a cache.
pub(crate) fn explore(chart: &Arc<Chart>, outside: &Outside<'_>) -> Explored {
    let report = check_within(Arc::clone(chart), outside, &Options::default());
    Explored { refusals: refusals(&report), report: Some(report) }
}

struct Look<'a> {
    folder: &'a Path,
    explore: Explore<'a>,
}

/// The chain of machines that start each other, outermost first: hash and name.
type Stack = Vec<(String, String)>;

impl Look<'_> {
    fn check(&self, chart: &Arc<Chart>, files: &Files, stack: &mut Stack) -> (Checked, Started) {
        let names = children(chart, catalogue());
        let children: BTreeMap<String, Child> =
            names.into_iter().map(|name| (name.to_owned(), self.child(name, stack))).collect();
        let outside = Outside { catalogue: catalogue(), files, children: &children };
        let checked = Checked { explored: (self.explore)(chart, &outside), border: border(chart, &outside) };
        let started = Started::of(checked.explored.report.as_ref(), checked.refusals(), chart, &outside);
        (checked, started)
    }

    fn child(&self, name: &str, stack: &mut Stack) -> Child {
        let source = match library::load(name, self.folder) {
            Ok(source) => source,
            Err(error) => return Child::Missing { why: error.to_string(), hint: error.hint().map(str::to_owned) },
        };
        let Some(chart) = source.read().chart.map(Arc::new) else {
            let hint = Some(format!("see `interlock check {name}`"));
            return Child::Missing { why: format!("the machine `{name}` cannot be read"), hint };
        };
        if let Some(at) = stack.iter().position(|(hash, _)| *hash == chart.hash) {
            let way = stack[at..].iter().map(|(_, name)| name.clone()).chain([chart.id.clone()]);
            return Child::Recursive(way.collect());
        }
        if stack.len() >= DEPTH_MAX {
            let why = format!("child machines are nested more than {DEPTH_MAX} deep");
            return Child::Missing { why, hint: None };
        }
        stack.push((chart.hash.clone(), chart.id.clone()));
        let (_, started) = self.check(&chart, &source.files, stack);
        stack.pop();
        Child::Known(started)
    }
}
