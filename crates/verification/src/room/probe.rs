//! Shows that the check can fail: sources are broken on purpose, and it must turn red.
//!
//! First all changed sources at once, then the changed functions one by one as far as a time budget goes. A check that stays green although
//! everything is broken looks at nothing. A check that turns red only for files that did not change is a real check that
//! does not look at the change: the change is untested.

use std::{collections::BTreeSet, io, path::Path, time::Duration};

use interlock_activity::Outcome;

use super::{
    Visit, Warning,
    breaking::{Break, broken_one_by_one, stopped, unreadable},
    files,
    kinds::Part,
    listed,
    stage::Build,
    tree::{Changed, Trees},
    verdict::Measured,
};

/// The most functions that are broken one by one.
const BROKEN_MAX: usize = 12;

impl Visit<'_, '_> {
    /// Breaks the changed sources, or all sources if only checks have changed.
    pub(super) async fn probe(&mut self, base: Option<&Measured>, now: &Measured) -> Result<(), Outcome> {
        let sources: Vec<Changed> = self.trees.sources().map(|(changed, _)| changed.clone()).collect();
        if sources.is_empty() {
            let data: Vec<Changed> =
                self.trees.with_part(&[Part::Data]).filter(|one| one.after.is_some()).cloned().collect();
            if !data.is_empty() && self.is_blind_to(&data, Break::Syntax).await? {
                self.untested(&data);
            }
            let has_new_checks = self.trees.with_part(&[Part::Definition, Part::Test]).next().is_some();
            return if has_new_checks { self.must_see_something(base).await } else { Ok(()) };
        }
        self.say("the changed sources are broken on purpose, to see whether the check notices");
        if self.is_blind_to(&sources, Break::Syntax).await? {
            return self.blind(&sources, base).await;
        }
        if self.is_blind_to(&sources, Break::Stop).await? {
            self.untested(&sources);
            return Ok(());
        }
        if !now.census.is_readable() || self.names(&sources) {
            self.must_still_see_the_rest(base, &sources).await?;
        }
        self.one_by_one(sources, now).await
    }

    /// Returns true if the check stays green with these sources broken in this way. Sources that cannot be broken so are
    /// left as they are; if none can, the answer is no.
    async fn is_blind_to(&mut self, sources: &[Changed], how: Break) -> Result<bool, Outcome> {
        let broken: Vec<(String, String)> = sources
            .iter()
            .filter_map(|changed| match how {
                Break::Syntax => Some((changed.path.clone(), unreadable(&changed.path, &changed.text_after()))),
                Break::Stop => {
                    Some((changed.path.clone(), stopped(&changed.path, &changed.text_before(), &changed.text_after())?))
                }
            })
            .collect();
        if broken.is_empty() {
            return Ok(false);
        }
        let tree = self.trees.new.clone();
        let key: Vec<&str> =
            [self.question.tree.as_str()].into_iter().chain(broken.iter().map(|(path, _)| path.as_str())).collect();
        let name = if how == Break::Syntax { "syntax" } else { "stop" };
        let key: Vec<String> = key.into_iter().map(str::to_owned).collect();
        self.is_green_with(name, &key, &tree, &broken).await
    }

    async fn is_green_with(
        &mut self,
        name: &str,
        key: &[String],
        tree: &Path,
        broken: &[(String, String)],
    ) -> Result<bool, Outcome> {
        let change = |copy: &Path| -> io::Result<()> {
            broken.iter().try_for_each(|(path, text)| files::write(copy, path, text))
        };
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        let result = self.remembered(name, &key, tree, Build::Discarded, change).await?;
        self.facts["broken"]
            [format!("{name}: {}", listed(&broken.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()))] =
            result.to_json();
        Ok(result.is_green())
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
    async fn must_still_see_the_rest(&mut self, base: Option<&Measured>, sources: &[Changed]) -> Result<(), Outcome> {
        let words = self.leading_words(sources);
        let is_other = |path: &str| sources.iter().all(|changed| changed.path != path) && is_named(&words, path);
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
    /// first one in any case.
    async fn one_by_one(&mut self, sources: Vec<Changed>, now: &Measured) -> Result<(), Outcome> {
        let budget = self.settings.budget(Duration::from_millis(now.took_ms));
        let begun = std::time::Instant::now();
        let (mut untested, mut tried, mut left) = (Vec::new(), 0, 0);
        let is_alone = sources.len() == 1;
        for changed in sources {
            let mut texts = broken_one_by_one(&changed.path, &changed.text_before(), &changed.text_after());
            if texts.is_empty() && !is_alone {
                texts.push(unreadable(&changed.path, &changed.text_after()));
            }
            for (number, text) in texts.into_iter().enumerate() {
                if tried > 0 && (begun.elapsed() >= budget || tried >= BROKEN_MAX) {
                    left += 1;
                    continue;
                }
                tried += 1;
                let key = vec![self.question.tree.clone(), changed.path.clone(), number.to_string()];
                let (tree, broken) = (self.trees.new.clone(), [(changed.path.clone(), text)]);
                if self.is_green_with("one", &key, &tree, &broken).await? {
                    untested.push(changed.clone());
                    break;
                }
            }
        }
        if left > 0 {
            let text =
                format!("{left} changed functions were broken only together with others, because the time was used up");
            self.notes.push(text);
        }
        if !untested.is_empty() {
            self.untested(&untested);
        }
        Ok(())
    }

    fn untested(&mut self, sources: &[Changed]) {
        let names: Vec<String> = sources.iter().map(|changed| changed.path.clone()).collect();
        let text = format!("the change in {} is untested: the check stays green if it is broken", listed(&names));
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
}

/// Splits texts into words that can be paths.
fn words<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let is_border = |letter: char| letter.is_whitespace() || "'\"();&|<>`=,:{}[]$".contains(letter);
    let words = texts.flat_map(|text| text.split(is_border));
    words.map(|word| word.trim_start_matches(['@', '-', '.', '/']).to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Returns true if one of the words is a path, or its name with or without the ending.
fn is_named(words: &BTreeSet<String>, path: &str) -> bool {
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
