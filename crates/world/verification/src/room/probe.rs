//! Shows that the check can fail: sources are broken on purpose, and it must turn red.
//!
//! First all changed sources at once, then the changed functions and branches one by one as far as a time budget goes. A
//! check that stays green although everything is broken looks at nothing. A check that turns red only for files that did not change is a real check that
//! does not look at the change: the change is untested.
//!
//! A red run counts only beside a twin: the same text at the same place, which does nothing, must leave the check green.
//! Otherwise the check looks at the text of the sources, such as at their checksum, and not at what they do.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    io,
    path::Path,
    time::Duration,
};

use interlock_activity::Outcome;

use super::{
    Visit, Warning,
    breaking::{Broken, broken_one_by_one, is_shell, stopped, stopped_blocks, stopped_branches, together, unreadable},
    files,
    kinds::Part,
    lines::{is_cosmetic, stopped_lines, with_comment},
    listed,
    splice::with_old_expectations,
    stage::Build,
    tree::{Changed, Trees},
    verdict::Measured,
};

/// The most texts that are broken one by one.
const BROKEN_MAX: usize = 100;

/// The most runs with the twins of all texts together.
const TOGETHER_MAX: usize = 3;

/// The reason why a red check shows nothing.
const BY_SHAPE: &str = "the check turns red for any inserted line, whether it runs or not";

/// What a check shows about a broken text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// It stays green.
    Blind,
    /// It turns red because of what the broken text does.
    Seen,
    /// It turns red, and does so for a text of the same shape that does nothing: a formatter, a linter or a compiler is
    /// part of it.
    ShapeOnly,
}

impl Visit<'_, '_> {
    /// Breaks the changed sources, or all sources if only checks have changed.
    pub(super) async fn probe(&mut self, base: Option<&Measured>, now: &Measured) -> Result<(), Outcome> {
        let sources: Vec<Changed> = self.trees.sources().map(|(changed, _)| changed.clone()).collect();
        if sources.is_empty() {
            return self.probe_others(base).await;
        }
        self.say("the changed sources are broken on purpose, to see whether the check notices");
        if self.is_blind_to(&sources).await? {
            return self.blind(&sources, base).await;
        }
        match self.shown_by_stops(&sources).await? {
            Some(Shown::Blind) => {
                self.untested(&sources);
                return Ok(());
            }
            Some(Shown::ShapeOnly) => {
                self.warn_untested(&sources, BY_SHAPE);
                return Ok(());
            }
            Some(Shown::Seen) | None => {}
        }
        if !now.census.is_readable() || self.names(&sources) {
            self.must_still_see_the_rest(base, now, &sources).await?;
        }
        // If the check was red before, the change made it green.
        let was_red = base.is_some_and(|base| !base.is_green());
        let (cosmetic, sources): (Vec<Changed>, Vec<Changed>) = sources
            .into_iter()
            .partition(|changed| is_cosmetic(&changed.spoken, &changed.text_before(), &changed.text_after()));
        match sources.is_empty() {
            true if was_red && !self.has_new_checks() => {
                self.object_to_comments(&cosmetic);
                Ok(())
            }
            true => {
                self.warn_untested(&cosmetic, "it changes only comments and white space");
                Ok(())
            }
            false => self.one_by_one(sources, now, was_red).await,
        }
    }

    /// The check was red, and it is green although no code changed. White space can be what a check of the form wants.
    fn object_to_comments(&mut self, cosmetic: &[Changed]) {
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let has_new_words = |one: &&Changed| words(one.text_before()) != words(one.text_after());
        let changed: Vec<&Changed> = cosmetic.iter().filter(has_new_words).collect();
        if !changed.is_empty() {
            let names: Vec<String> = changed.iter().map(|one| one.path.clone()).collect();
            let text = format!(
                "the check failed before, and it passes with other comments and the same code: {}",
                listed(&names)
            );
            self.object(text, &Trees::hash(changed.into_iter()));
        }
    }

    /// No source has changed: data and texts for people are broken, unless new checks are what the change is about.
    async fn probe_others(&mut self, base: Option<&Measured>) -> Result<(), Outcome> {
        let has_new_checks = self.has_new_checks();
        let parts = if has_new_checks { &[Part::Data][..] } else { &[Part::Data, Part::Document] };
        let others: Vec<Changed> = self.trees.with_part(parts).filter(|one| one.after.is_some()).cloned().collect();
        if !others.is_empty() && self.is_blind_to(&others).await? {
            self.untested(&others);
        }
        if has_new_checks {
            return self.must_see_something(base).await;
        }
        if others.is_empty() && !self.trees.changed.is_empty() && base.is_none_or(Measured::is_green) {
            let removed = self.trees.changed.clone();
            self.warn_untested(&removed, "the check is green before and after it");
        }
        Ok(())
    }

    fn has_new_checks(&self) -> bool {
        self.trees.with_part(&[Part::Definition, Part::Test]).next().is_some()
    }

    /// Returns true if the check stays green although these sources cannot be read.
    async fn is_blind_to(&mut self, sources: &[Changed]) -> Result<bool, Outcome> {
        let broken: Vec<(String, String)> = sources
            .iter()
            .map(|changed| (changed.path.clone(), unreadable(&changed.path, &changed.text_after())))
            .collect();
        let tree = self.trees.new.clone();
        let key = self.key(broken.iter().map(|(path, _)| path));
        self.is_green_with("syntax", &key, &tree, &broken).await
    }

    /// Stops all changed functions at once. Sources that have none are left as they are; `None` if none has one.
    async fn shown_by_stops(&mut self, sources: &[Changed]) -> Result<Option<Shown>, Outcome> {
        let stop = |changed: &Changed| {
            Some((changed.path.clone(), stopped(&changed.spoken, &changed.text_before(), &changed.text_after())?))
        };
        let broken: Vec<(String, Broken)> = sources.iter().filter_map(stop).collect();
        if broken.is_empty() {
            return Ok(None);
        }
        let key = self.key(broken.iter().map(|(path, _)| path));
        self.shown_by("stop", &key, broken, true).await.map(Some)
    }

    /// Runs the check with broken texts, and with their twins if it turns red.
    async fn shown_by(
        &mut self,
        name: &str,
        key: &[String],
        broken: Vec<(String, Broken)>,
        needs_twin: bool,
    ) -> Result<Shown, Outcome> {
        let (texts, twins): (Vec<_>, Vec<_>) =
            broken.into_iter().map(|(path, broken)| ((path.clone(), broken.text), (path, broken.twin))).unzip();
        let tree = self.trees.new.clone();
        Ok(match self.is_green_with(name, key, &tree, &texts).await? {
            true => Shown::Blind,
            false if !needs_twin || self.is_green_as_twin(&format!("{name} twin"), key, &twins).await? => Shown::Seen,
            false => Shown::ShapeOnly,
        })
    }

    async fn is_green_as_twin(
        &mut self,
        name: &str,
        key: &[String],
        twins: &[(String, String)],
    ) -> Result<bool, Outcome> {
        let tree = self.trees.new.clone();
        let result = self.run_with(name, key, &tree, twins).await?;
        self.note("twins", name, twins, &result);
        Ok(result.is_green())
    }

    /// Returns true if the check stays green with the twins of all texts of a source together, for every source: then no
    /// text needs a twin of its own.
    async fn are_all_twins_green(
        &mut self,
        sources: &[Changed],
        groups: &[(usize, usize, Vec<Broken>)],
    ) -> Result<bool, Outcome> {
        let of = |at: usize| {
            let twins = groups.iter().filter(|(source, ..)| *source == at).flat_map(|(.., group)| group);
            together(&sources[at].text_after(), twins.map(|broken| broken.twin.as_str()))
        };
        let texts: Vec<Vec<String>> = (0..sources.len()).map(of).collect();
        let rounds = texts.iter().map(Vec::len).max().unwrap_or_default();
        for round in 0..rounds {
            let twins = sources
                .iter()
                .zip(&texts)
                .filter_map(|(one, texts)| Some((one.path.clone(), texts.get(round)?.clone())));
            let twins: Vec<(String, String)> = twins.collect();
            let key: Vec<String> = [self.question.tree.clone(), crate::room::hash_of(&twins)].into();
            if rounds > TOGETHER_MAX || !self.is_green_as_twin("all twins", &key, &twins).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes a run into the facts.
    fn note(&mut self, list: &str, name: &str, texts: &[(String, String)], result: &Measured) {
        let runs = self.facts[list].as_object().map_or(0, serde_json::Map::len);
        self.facts[list][format!("{} {}", runs + 1, fact(name, texts))] = result.to_json();
    }

    fn key<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Vec<String> {
        std::iter::once(self.question.tree.clone()).chain(paths.cloned()).collect()
    }

    async fn is_green_with(
        &mut self,
        name: &str,
        key: &[String],
        tree: &Path,
        broken: &[(String, String)],
    ) -> Result<bool, Outcome> {
        let result = self.run_with(name, key, tree, broken).await?;
        self.note("broken", name, broken, &result);
        Ok(result.is_green())
    }

    /// Runs the check in a copy of a tree with other texts.
    pub(super) async fn run_with(
        &mut self,
        name: &str,
        key: &[String],
        tree: &Path,
        texts: &[(String, String)],
    ) -> Result<Measured, Outcome> {
        let change = |copy: &Path| -> io::Result<()> {
            texts.iter().try_for_each(|(path, text)| files::write(copy, path, text))
        };
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        self.remembered(name, &key, tree, Build::Discarded, change).await
    }

    /// The check stays green with the whole change broken: either it looks at nothing, or the change is untested.
    async fn blind(&mut self, sources: &[Changed], base: Option<&Measured>) -> Result<(), Outcome> {
        if self.sees_any_source(true).await? {
            self.untested(sources);
            return Ok(());
        }
        self.object_to_blindness(base).await
    }

    /// Only checks have changed: the new check must be able to fail.
    async fn must_see_something(&mut self, base: Option<&Measured>) -> Result<(), Outcome> {
        match self.sees_any_source(true).await? {
            true => Ok(()),
            false => self.object_to_blindness(base).await,
        }
    }

    async fn object_to_blindness(&mut self, base: Option<&Measured>) -> Result<(), Outcome> {
        let saw_before = base.is_some_and(Measured::is_green) && self.sees_any_source(false).await?;
        let before = if saw_before { "; before the change it did not" } else { "" };
        let hash = Trees::hash(self.trees.changed.iter());
        self.object(format!("the check stays green although every source file is broken{before}"), &hash);
        Ok(())
    }

    /// Breaks all sources of the new tree, or of the base tree. Returns true if the check turns red, or if there are none.
    async fn sees_any_source(&mut self, in_new: bool) -> Result<bool, Outcome> {
        let tree = if in_new { self.trees.new.clone() } else { self.trees.base.clone() };
        let hash = if in_new { self.question.tree.clone() } else { self.question.base.clone() };
        let broken = unreadable_all(&tree, |_| true);
        if broken.is_empty() {
            return Ok(true);
        }
        Ok(!self.is_green_with("all", &[hash], &tree, &broken).await?)
    }

    /// The check's exit code alone tells little: a changed script can end it early. So the check must still notice broken
    /// sources that did not change, if it noticed them before. Sources that nothing names are left out.
    async fn must_still_see_the_rest(
        &mut self,
        base: Option<&Measured>,
        now: &Measured,
        sources: &[Changed],
    ) -> Result<(), Outcome> {
        let words = self.leading_words(sources);
        let uses = self.uses.clone();
        // Whether this check runs other checks is not the question.
        let is_asked = |path: &str| now.has_read(path) || !uses.is_check(path);
        let is_other =
            |path: &str| is_asked(path) && sources.iter().all(|changed| changed.path != path) && is_named(&words, path);
        let (new, old) = (self.trees.new.clone(), self.trees.base.clone());
        let broken = unreadable_all(&new, is_other);
        let key = vec![self.question.base.clone(), self.question.tree.clone()];
        if broken.is_empty() || !self.is_green_with("rest", &key, &new, &broken).await? {
            return Ok(());
        }
        let in_base = unreadable_all(&old, is_other);
        let saw_before = match base {
            Some(base) if base.is_green() && !in_base.is_empty() => {
                Some(!self.is_green_with("rest before", &key, &old, &in_base).await?)
            }
            _ => None,
        };
        let names = listed(&broken.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>());
        let hash = Trees::hash(self.trees.changed.iter());
        match saw_before {
            Some(false) => {}
            Some(true) => self.object(format!("the check no longer notices that {names} is broken"), &hash),
            None => self.object(format!("the check cannot be shown to look at anything but the changed files: it stays green with {names} broken"), &hash),
        }
        Ok(())
    }

    /// Breaks the changed functions one by one, and files without functions as a whole, as far as the budget goes; the
    /// first one in any case. The order is random, so that no change can choose what is left out.
    async fn one_by_one(&mut self, sources: Vec<Changed>, now: &Measured, was_red: bool) -> Result<(), Outcome> {
        let budget = self.settings.budget(Duration::from_millis(now.took_ms));
        let begun = std::time::Instant::now();
        let (mut untested, mut tried, mut left) = (BTreeSet::new(), 0, BTreeSet::new());
        let (mut seen, mut by_shape) = (BTreeSet::new(), BTreeSet::new());
        let groups = self.groups(&sources, was_red);
        if let ([only], true) = (&sources[..], groups.is_empty()) {
            // The check has noticed that it cannot be read. Now it must not notice a comment.
            let twin = (only.path.clone(), with_comment(&only.spoken, &only.text_after()));
            let key = self.key([&only.path].into_iter());
            if !self.is_green_as_twin("comment", &key, &[twin]).await? {
                self.warn_untested(&sources, BY_SHAPE);
            }
            return Ok(());
        }
        let needs_twins = !self.are_all_twins_green(&sources, &groups).await?;
        for (at, number, group) in groups {
            if untested.contains(&at) {
                continue;
            }
            if tried > 0 && (begun.elapsed() >= budget || tried >= BROKEN_MAX) {
                left.insert(at);
                continue;
            }
            tried += group.len();
            match self.shown_by_group((&sources[at].path, number), group, needs_twins).await? {
                Shown::Blind => untested.insert(at),
                Shown::Seen => seen.insert(at),
                Shown::ShapeOnly => by_shape.insert(at),
            };
        }
        let of = |places: &BTreeSet<usize>| places.iter().map(|at| sources[*at].clone()).collect::<Vec<_>>();
        left.retain(|at| !untested.contains(at));
        // Functions have all been stopped before.
        let is_stopped = |one: &Changed| stopped(&one.spoken, &one.text_before(), &one.text_after()).is_some();
        by_shape.retain(|at| !seen.contains(at) && !untested.contains(at) && !is_stopped(&sources[*at]));
        if !by_shape.is_empty() {
            self.warn_untested(&of(&by_shape), BY_SHAPE);
        }
        if !left.is_empty() {
            self.warn_untested(&of(&left), "the time was used up before every part of it was broken alone");
        }
        if !untested.is_empty() {
            self.untested(&of(&untested));
        }
        Ok(())
    }

    /// Returns the texts that break the sources one by one, in random order: the place of the source, the number of the group
    /// within it, and the group. The check must notice one text of each group.
    fn groups(&self, sources: &[Changed], was_red: bool) -> Vec<(usize, usize, Vec<Broken>)> {
        let mut found = Vec::new();
        for (at, changed) in sources.iter().enumerate() {
            let (path, before, after) = (&changed.spoken, changed.text_before(), changed.text_after());
            // The changed tests inside of a source are no part of the product.
            let before = with_old_expectations(&self.uses, &changed.spoken, &after, &before).unwrap_or(before);
            let mut groups = broken_one_by_one(path, &before, &after);
            groups.extend(stopped_blocks(path, &before, &after).into_iter().map(|broken| vec![broken]));
            groups.extend(stopped_branches(path, &before, &after).into_iter().map(|broken| vec![broken]));
            if !was_red {
                groups.extend(stopped_lines(path, &before, &after).into_iter().map(|broken| vec![broken]));
            }
            if groups.is_empty() && sources.len() > 1 {
                groups.push(vec![Broken { text: unreadable(path, &after), twin: with_comment(path, &after) }]);
            }
            found.extend(groups.into_iter().enumerate().map(|(number, group)| (at, number, group)));
        }
        let random = RandomState::new();
        found.sort_by_cached_key(|(at, number, _)| random.hash_one((at, number)));
        found
    }

    /// Returns true if the check notices that a script goes on where it ended.
    async fn is_noticed_further(&mut self, path: &str, key: &[String], broken: &str) -> Result<bool, Outcome> {
        let changed = self.trees.changed.iter().find(|changed| changed.path == path);
        let Some(text) = changed.and_then(|changed| going_on(path, &changed.text_after(), broken)) else {
            return Ok(false);
        };
        let tree = self.trees.new.clone();
        Ok(!self.is_green_with("going on", key, &tree, &[(path.to_owned(), text)]).await?)
    }

    /// Runs the check with each text of a group, until it notices one.
    async fn shown_by_group(
        &mut self,
        (path, number): (&str, usize),
        group: Vec<Broken>,
        needs_twin: bool,
    ) -> Result<Shown, Outcome> {
        let mut shown = Shown::ShapeOnly;
        for (at, broken) in group.into_iter().enumerate() {
            let key = vec![self.question.tree.clone(), path.to_owned(), number.to_string(), at.to_string()];
            let text = broken.text.clone();
            match self.shown_by("one", &key, vec![(path.to_owned(), broken)], needs_twin).await? {
                Shown::Seen => return Ok(Shown::Seen),
                Shown::Blind if self.is_noticed_further(path, &key, &text).await? => return Ok(Shown::Seen),
                Shown::Blind => shown = Shown::Blind,
                Shown::ShapeOnly => {}
            }
        }
        Ok(shown)
    }

    fn untested(&mut self, changed: &[Changed]) {
        self.warn_untested(changed, "the check stays green if it is broken");
    }

    fn warn_untested(&mut self, changed: &[Changed], why: &str) {
        let names: Vec<String> = changed.iter().map(|changed| changed.path.clone()).collect();
        let text = format!("the change in {} is untested: {why}", listed(&names));
        self.warnings.push(Warning { code: "untested", text });
    }

    /// Returns true if the check's commands or definitions name one of these files, so that it may be a part of the check.
    fn names(&self, sources: &[Changed]) -> bool {
        let definitions = Trees::texts(&self.trees.new, Part::Definition);
        let words = words(self.question.lines.iter().chain(&definitions));
        sources.iter().any(|changed| is_named(&words, &changed.path))
    }

    /// The words of everything that can lead the check to a source: commands, definitions, tests and the changed sources.
    fn leading_words(&self, sources: &[Changed]) -> BTreeSet<String> {
        let mut texts = self.question.lines.clone();
        texts.extend([Part::Definition, Part::Test].iter().flat_map(|part| Trees::texts(&self.trees.new, *part)));
        texts.extend(sources.iter().map(Changed::text_after));
        words(texts.iter())
    }

    /// The words of the commands and of all files of the new tree but these.
    pub(super) fn words_beside(&self, left_out: &[&Changed]) -> BTreeSet<String> {
        let all = Trees::all_texts(&self.trees.new, |path| left_out.iter().all(|changed| changed.path != path));
        words(self.question.lines.iter().chain(&all))
    }
}

/// Names a run in the facts.
fn fact(name: &str, texts: &[(String, String)]) -> String {
    format!("{name}: {}", listed(&texts.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()))
}

/// Returns a shell script that goes on where it ended, if the broken one stops just there: who looks at the output alone
/// notices that.
fn going_on(path: &str, text: &str, broken: &str) -> Option<String> {
    let at =
        text.lines().zip(broken.lines()).position(|(line, other)| line != other).filter(|_| is_shell(path, text))?;
    let lines: Vec<&str> = text.lines().collect();
    let ends = |at: &usize| lines.get(*at).is_some_and(|line| line.trim_start().starts_with("exit"));
    // Behind the end of the script, only the end of a block follows.
    let is_closing = ["fi", "done", "esac", ";;", "}"].contains(&lines.get(at)?.trim());
    let at = Some(at).filter(ends).or_else(|| at.checked_sub(1).filter(ends).filter(|_| is_closing))?;
    let line = lines[at];
    let indentation = &line[..line.len() - line.trim_start().len()];
    Some(format!("{}\n{indentation}:\n{}\n", lines[..at].join("\n"), lines[at + 1..].join("\n")))
}

/// Splits texts into words that can be paths.
pub(super) fn words<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let is_border = |letter: char| letter.is_whitespace() || "'\"();&|<>`=,:{}[]$".contains(letter);
    let words = texts.flat_map(|text| text.split(is_border));
    words.map(|word| word.trim_start_matches(['@', '-', '.', '/']).to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Returns true if one of the words is a path, or its name with or without the ending.
pub(super) fn is_named(words: &BTreeSet<String>, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    words.contains(path)
        || words.contains(name)
        || words.contains(stem)
        || words.iter().any(|word| word.ends_with(&format!("/{name}")))
}

/// Returns the sources of a tree that a rule selects, made unreadable.
fn unreadable_all(tree: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let sources = Trees::all_sources(tree).into_iter().filter(|(path, _)| is_wanted(path));
    sources.map(|(path, text)| (path.clone(), unreadable(&path, &String::from_utf8_lossy(&text)))).collect()
}
