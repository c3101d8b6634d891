//! Compares the cases before and after a change, with the old and the new checks.

use std::collections::BTreeSet;

use interlock_test_results::Status;

use super::{
    Visit, Warning,
    kinds::Part,
    listed,
    tree::{Changed, Trees},
    verdict::{Measured, lines},
};

impl Visit<'_, '_> {
    /// Objects to cases that disappeared, and to cases and checks that pass only with their new text.
    pub(super) fn compare(&mut self, base: Option<&Measured>, now: &Measured, old: Option<&Measured>) {
        self.count(base, now);
        let (files, hash) = self.changed_checks();
        if let Some(old) = old {
            let only_new = only_with_new_text(base, now, old);
            if !only_new.is_empty() {
                let cases = listed(&only_new);
                let has_failed = only_new.iter().any(|name| old.census.cases.contains_key(name));
                let text = match has_failed || old.summary.is_empty() {
                    true => format!("these cases pass only with the changed checks ({files}): {cases}"),
                    false => format!(
                        "the checks from before the change ({files}) cannot run with the new sources ({}), so these cases were not seen: {cases}",
                        old.summary
                    ),
                };
                self.object(text, &hash);
            } else if !old.is_green() {
                let why = &old.summary;
                self.object(
                    format!("the check as it was before the change fails on the new sources ({files} changed): {why}"),
                    &hash,
                );
            }
        }
        let Some(base) = base else { return };
        self.look_at_data(base);
        let gone = gone(base, now);
        let still_pass = old.is_none_or(|old| gone.iter().all(|name| has_passed(old, name)));
        let (before, after) = (base.census.passed(), now.census.passed());
        if after < before {
            let names = if gone.is_empty() { String::new() } else { format!(": {}", listed(&gone)) };
            self.object(
                format!("fewer cases passed than before the change, {after} instead of {before}{names}"),
                &hash,
            );
        } else if !gone.is_empty() && !still_pass {
            self.object(format!("these cases passed before the change and did not pass now: {}", listed(&gone)), &hash);
        } else if !gone.is_empty() {
            self.notes.push(format!("these cases have other names now, and pass as they were: {}", listed(&gone)));
        }
    }

    /// Objects to data of a check that is gone. The check reads it and no source of the product names it, so it is a part of
    /// the cases. Beside changed sources, the check has run with the old data, too (`old.rs`).
    fn look_at_data(&mut self, base: &Measured) {
        if !base.is_green() || self.trees.sources().next().is_some() {
            return;
        }
        let is_shorter =
            |one: &Changed| one.before.is_some() && !lines(&one.text_before()).is_subset(&lines(&one.text_after()));
        let data = self.trees.with_part(&[Part::Data, Part::Document]);
        let of_cases = data.filter(|one| base.has_read(&one.path) && !self.uses.is_named_by_product(&one.path));
        let shorter: Vec<Changed> = of_cases.filter(|one| is_shorter(one)).cloned().collect();
        if !shorter.is_empty() {
            let names: Vec<String> = shorter.iter().map(|one| one.path.clone()).collect();
            let text =
                format!("data that the check reads is gone or shorter, and no source has changed: {}", listed(&names));
            self.object(text, &Trees::hash(shorter.iter()));
        }
    }

    /// Says how many cases passed. Of lines that name no cases, at least those that the check printed before must be there: what
    /// is gone may have been a case.
    fn count(&mut self, base: Option<&Measured>, now: &Measured) {
        let was_readable = base.is_some_and(|base| base.census.is_readable());
        let has_all = base.is_none_or(|base| !base.is_green() || base.lines.is_subset(&now.lines));
        match (now.census.is_readable(), now.census.passed()) {
            (true, 0) => self.warnings.push(Warning { code: "no_cases", text: "the check ran no case".to_owned() }),
            (true, passed) => self.notes.push(format!("{passed} cases passed")),
            (false, _) if was_readable => {}
            (false, _) if has_all => {
                self.notes.push("the output names no cases, so the exit code counts as one".to_owned());
            }
            (false, _) => {
                let text = "the check prints lines that name no cases, and not all that it printed before the change, so cases may be missing";
                self.warnings.push(Warning { code: "cases_unreadable", text: text.to_owned() });
            }
        }
    }
}

/// The cases that pass with the new checks and not with the old ones, if the base tree has them.
fn only_with_new_text(base: Option<&Measured>, now: &Measured, old: &Measured) -> Vec<String> {
    let known: BTreeSet<&String> =
        base.into_iter().flat_map(|base| base.census.cases.keys()).chain(old.census.cases.keys()).collect();
    let passes = now.census.cases.iter().filter(|(_, status)| **status == Status::Passed).map(|(name, _)| name);
    passes.filter(|name| known.contains(name) && !has_passed(old, name)).cloned().collect()
}

/// The cases that passed before and do not pass now.
pub(super) fn gone(base: &Measured, now: &Measured) -> Vec<String> {
    let passed = base.census.cases.iter().filter(|(_, status)| **status == Status::Passed).map(|(name, _)| name);
    passed.filter(|name| !has_passed(now, name)).cloned().collect()
}

fn has_passed(measured: &Measured, name: &str) -> bool {
    measured.census.cases.get(name) == Some(&Status::Passed)
}
