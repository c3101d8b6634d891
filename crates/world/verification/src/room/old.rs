//! The old checks on the new sources: the tests and definitions of the base tree, with everything else of the new one.
//!
//! A case that passes only with its new text, and a check that passes only with its new definition, shows nothing about
//! the sources. Whatever trick is in the new text, it is not there in this run.
//!
//! Which files are checks follows from their names (`kinds.rs`) and from who uses them (`uses.rs`). What says what is right
//! inside of a source is put into its new text (`splice.rs`).

use std::{io, path::Path};

use interlock_activity::Outcome;
use interlock_test_results::Status;

use super::{
    Visit,
    compare::gone,
    definitions::is_build,
    files,
    kinds::Part,
    splice::with_old_expectations,
    stage::Build,
    tree::{Changed, Trees},
    uses::Uses,
    verdict::Measured,
};

/// The parts of a tree that are always checks.
pub(super) const CHECKS: [Part; 2] = [Part::Definition, Part::Test];

impl Visit<'_, '_> {
    /// Runs the old checks on the new sources; `None` if they are the new ones.
    pub(super) async fn old_checks(
        &mut self,
        base: Option<&Measured>,
        now: &Measured,
    ) -> Result<Option<Measured>, Outcome> {
        let uses = self.uses.clone();
        let old = self.old_files(&uses, base, now);
        let spliced: Vec<(Changed, String)> = self.spliced(&uses, &old);
        self.checks = old.iter().chain(spliced.iter().map(|(changed, _)| changed)).cloned().collect();
        let spliced: Vec<(String, String)> = spliced.into_iter().map(|(changed, text)| (changed.path, text)).collect();
        if old.is_empty() && spliced.is_empty() {
            return Ok(None);
        }
        self.say("the tests and definitions from before the change run against the new sources");
        let mut result = self.old_run_twice("old", &old, &spliced).await?;
        // What looks like an expectation inside of a source may be the product, so the sources as they are must pass, too.
        if result.is_green() && !old.is_empty() && !spliced.is_empty() {
            result = self.old_run_twice("old files", &old, &[]).await?;
        }
        if let Some(with_new_builds) = self.old_tests(base, now, &result, (&old, &spliced)).await? {
            result = with_new_builds;
        }
        self.facts["old_checks"] = result.to_json();
        Ok(Some(result))
    }

    /// A new source file needs its line in a makefile, and the old makefile cannot build it. So if the old checks failed
    /// before any case did, only the old tests and settings run, with the new build files. The cases must then be known
    /// by name, and all of them must pass.
    async fn old_tests(
        &mut self,
        base: Option<&Measured>,
        now: &Measured,
        failed: &Measured,
        (old, spliced): (&[Changed], &[(String, String)]),
    ) -> Result<Option<Measured>, Outcome> {
        let has_all = |measured: &Measured| {
            let is_green =
                |base: &&Measured| base.is_green() && base.census.passed() > 0 && !base.census.cases.is_empty();
            measured.is_green() && base.filter(is_green).is_some_and(|base| gone(base, measured).is_empty())
        };
        let has_failed_case = failed.census.cases.values().any(|status| *status == Status::Failed);
        let tests: Vec<Changed> = old.iter().filter(|changed| !is_build(changed)).cloned().collect();
        if failed.is_green() || has_failed_case || tests.len() == old.len() || !has_all(now) {
            return Ok(None);
        }
        let result = match tests.is_empty() && spliced.is_empty() {
            true => now.clone(),
            false => self.old_run("old tests", &tests, spliced).await?,
        };
        Ok(has_all(&result).then_some(result))
    }

    /// Runs old checks. A check that fails runs once more: some tests fail now and then.
    async fn old_run_twice(
        &mut self,
        name: &str,
        old: &[Changed],
        spliced: &[(String, String)],
    ) -> Result<Measured, Outcome> {
        let result = self.old_run(name, old, spliced).await?;
        if result.is_green() {
            return Ok(result);
        }
        let again = self.old_run(&format!("{name} again"), old, spliced).await?;
        Ok(if again.census.passed() >= result.census.passed() { again } else { result })
    }

    async fn old_run(
        &mut self,
        name: &str,
        old: &[Changed],
        spliced: &[(String, String)],
    ) -> Result<Measured, Outcome> {
        let (tree, base) = (self.trees.new.clone(), self.trees.base.clone());
        let (question_base, question_tree) = (self.question.base.clone(), self.question.tree.clone());
        let change = |copy: &Path| -> io::Result<()> {
            old.iter().try_for_each(|changed| files::replace(copy, &changed.path, &base))?;
            spliced.iter().try_for_each(|(path, text)| files::write(copy, path, text))
        };
        self.remembered(name, &[&question_base, &question_tree], &tree, Build::Discarded, change).await
    }

    /// The changed files that the old checks take from the base tree. Data is the product's if it changes alone and the
    /// product names it; beside changed sources it may have been made to fit them, so the new sources must do with the old
    /// data. So it is with every other text that the check reads.
    fn old_files(&self, uses: &Uses, base: Option<&Measured>, now: &Measured) -> Vec<Changed> {
        let (was_red, has_sources) = (base.is_some_and(|base| !base.is_green()), self.trees.sources().next().is_some());
        let is_read = |one: &Changed| now.has_read(&one.path) || base.is_some_and(|base| base.has_read(&one.path));
        let is_old = |one: &&Changed| match one.part {
            Part::Definition | Part::Test => true,
            Part::Source => one.before.is_some() && uses.is_check(&one.path),
            Part::Data if has_sources => one.before.is_some(),
            Part::Document if has_sources => one.before.is_some() && is_read(one),
            // If the check was green before, it is green with the old text of everything.
            Part::Data | Part::Document => {
                was_red && one.before.is_some() && is_read(one) && !uses.is_named_by_product(&one.path)
            }
        };
        self.trees.changed.iter().filter(is_old).cloned().collect()
    }

    /// The changed sources with the tests, examples and expected values that they had before, if these changed.
    fn spliced(&self, uses: &Uses, old: &[Changed]) -> Vec<(Changed, String)> {
        let is_left = |one: &&Changed| {
            one.before.is_some() && one.after.is_some() && old.iter().all(|other| other.path != one.path)
        };
        let sources = self.trees.with_part(&[Part::Source]).filter(is_left);
        let spliced = sources.filter_map(|one| {
            let text = with_old_expectations(uses, &one.spoken, &one.text_before(), &one.text_after())?;
            Some((one.clone(), text))
        });
        spliced.collect()
    }

    /// Shows both texts of the tests and definitions that changed, as a difference.
    pub(super) fn difference_of_checks(&self) -> String {
        let mut text = String::new();
        for changed in &self.checks {
            let (before, after) = (changed.text_before(), changed.text_after());
            let diff = similar::TextDiff::from_lines(&before, &after);
            let names = (format!("a/{}", changed.path), format!("b/{}", changed.path));
            text.push_str(&diff.unified_diff().header(&names.0, &names.1).to_string());
        }
        text
    }

    /// Names the tests and definitions that changed, for people.
    pub(super) fn changed_checks(&self) -> (String, String) {
        let names: Vec<String> = self.checks.iter().map(|changed| changed.path.clone()).collect();
        (super::listed(&names), Trees::hash(self.checks.iter()))
    }
}
