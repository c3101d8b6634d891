//! Computes the places that a program can read.
//!
//! Everything can be read except hidden places and closed directories. In a closed directory only what is shown can be
//! read. If a shown place lies in a hidden one, or a hidden one in a shown one, the longer path counts.

use std::path::{Path, PathBuf};

use crate::{Rules, places, repository};

/// The places that a program can read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The largest readable places. They contain no hidden place.
    pub(crate) places: Vec<PathBuf>,
    /// The closed directories that exist.
    pub(crate) closed: Vec<PathBuf>,
    /// The shown places in them that exist.
    pub(crate) shown: Vec<PathBuf>,
}

impl Reading {
    /// Returns the places that `program` can read besides those that it can change. `hidden` has canonical paths.
    pub(crate) fn new(rules: &Rules, hidden: &[PathBuf], program: Option<&Path>) -> Self {
        let closed = places::real(&rules.closed);
        let shown = shown(rules, &closed, program);
        let barred: Vec<_> = hidden.iter().chain(&closed).cloned().collect();
        let mut places = places::around(Path::new("/"), &barred);
        if rules.keeps_workspace {
            places.extend(places::around(&rules.workspace, hidden));
        }
        let never = places::real(rules.store.iter().chain(&rules.never));
        for place in &shown {
            let counts = |hidden: &&PathBuf| !place.starts_with(hidden) || never.contains(hidden);
            let hidden: Vec<_> = hidden.iter().filter(counts).cloned().collect();
            if !never.iter().any(|never| place.starts_with(never)) {
                places.extend(places::around(place, &hidden));
            }
        }
        Reading { places, closed, shown }
    }
}

fn shown(rules: &Rules, closed: &[PathBuf], program: Option<&Path>) -> Vec<PathBuf> {
    // The repository of a linked worktree is elsewhere.
    let git = repository::git_folders(&rules.workspace);
    let changeable = places::real(rules.write.iter().chain([&rules.workspace]));
    // A program can put links into places that it can change.
    let is_changeable = |place: &&Path| {
        place
            .ancestors()
            .filter_map(|above| above.canonicalize().ok())
            .any(|above| changeable.iter().any(|changeable| above.starts_with(changeable)))
    };
    let all = rules.show.iter().map(PathBuf::as_path).chain(program).chain(git.iter().map(PathBuf::as_path));
    let real = all.filter_map(|place| Some((place, place.canonicalize().ok()?)));
    let real = real.filter(|(place, _)| !is_changeable(place)).map(|(_, real)| real);
    let mut shown: Vec<_> =
        real.filter(|real| closed.iter().any(|closed| real.starts_with(closed)) || rules.show.contains(real)).collect();
    shown.sort();
    shown.dedup();
    shown
}
