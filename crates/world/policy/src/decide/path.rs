//! Paths: the literal location, the location after links are followed, and the rules for both.

use super::{Scene, strictest};
use crate::{
    Level, PathOp, Permission, code,
    glob::{is_pattern, overlap},
    path::{Location, places},
    policy::{DefaultCase, LastWord},
};

/// The permission that an operation needs.
fn permission(op: PathOp) -> Permission {
    match op {
        PathOp::Read => Permission::Read,
        PathOp::Write | PathOp::WriteBelow => Permission::Write,
        PathOp::Delete => Permission::Delete,
        PathOp::Destroy => Permission::Destroy,
    }
}

/// An operation as people read it.
fn word(op: PathOp) -> &'static str {
    match op {
        PathOp::Read => "read",
        PathOp::Write => "write",
        PathOp::WriteBelow => "let a program write",
        PathOp::Delete => "delete",
        PathOp::Destroy => "delete",
    }
}

impl Scene<'_> {
    /// Checks an operation on a literal path.
    pub(crate) fn path(&mut self, op: PathOp, path: &str, cwd: &str) {
        self.any_path(op, path, cwd, false);
    }

    /// Checks an operation on every path that a pattern matches.
    pub(crate) fn pattern(&mut self, op: PathOp, path: &str, cwd: &str) {
        self.any_path(op, path, cwd, is_pattern(path));
    }

    /// Checks a word that may be a file name: only rules count, not its location.
    pub(crate) fn perhaps_path(&mut self, path: &str, cwd: &str, is_pattern: bool) {
        for place in places(path, cwd, self.view).unwrap_or_default() {
            let rules = self.rules_for(&place, Permission::Read, is_pattern);
            let strict =
                rules.into_iter().map(|rule| &self.policy.paths[rule]).filter(|rule| rule.level > Level::Allow);
            let Some(rule) = strict.max_by_key(|rule| rule.level) else { continue };
            let reason = format!("read `{}`: {} (rule {})", place.shown(), rule.reason, rule.name);
            self.find(Permission::Read, place.shown(), rule.level, code::PATH_RULE, reason);
        }
    }

    fn any_path(&mut self, op: PathOp, path: &str, cwd: &str, is_pattern: bool) {
        match places(path, cwd, self.view) {
            Err(why) => self.find(permission(op), path, Level::Deny, code::BAD_PATH, why),
            Ok(places) => places.iter().for_each(|place| self.place(op, place, is_pattern)),
        }
    }

    fn place(&mut self, op: PathOp, place: &Location, is_pattern: bool) {
        let (permission, shown) = (permission(op), place.shown());
        if op != PathOp::Read
            && let Some((code, why)) = self.never(op, place)
        {
            return self.find(permission, shown, Level::Deny, code, format!("{} `{shown}`: {why}", word(op)));
        }
        let made_again =
            LastWord { level: Level::Allow, loosen_to: Level::Allow, reason: "it can be recreated".to_owned() };
        let is_made_again = op == PathOp::Destroy && self.is_disposable(place);
        let last = if is_made_again { &made_again } else { self.policy.last_word(self.case(op, place, is_pattern)) };
        let mut rules = self.rules_for(place, permission, is_pattern);
        if op == PathOp::WriteBelow && place.inside.is_none() {
            rules.extend(self.rules_below(place, permission));
        }
        rules.retain(|rule| !is_made_again || self.policy.paths[*rule].level == Level::Deny);
        let (level, reason, rule) = strictest(rules.iter().map(|rule| &self.policy.paths[*rule]), last);
        let code = match (rule, op, &place.inside) {
            (Some(_), ..) => code::PATH_RULE,
            (None, PathOp::Destroy, Some(_)) => code::WOULD_LOSE_WORK,
            (None, _, None) if place.is_linked => code::LINK_ESCAPE,
            (None, _, None) => code::OUTSIDE,
            _ => code::OTHERWISE,
        };
        let rule = rule.map(|rule| format!(" (rule {rule})")).unwrap_or_default();
        let reason = format!("{} `{shown}`: {reason}{rule}", word(op));
        self.find(permission, shown, level, code, reason);
    }

    /// Returns the reason why no policy can permit this operation.
    fn never(&self, op: PathOp, place: &Location) -> Option<(&'static str, &'static str)> {
        let inside = place.inside.as_deref();
        if place.is_git_internal() && op != PathOp::Read {
            return Some((code::GIT_INTERNAL, "it belongs to git"));
        }
        if matches!(op, PathOp::Delete | PathOp::Destroy) && place.holds_root(self.view) {
            return Some((code::WOULD_LOSE_WORK, "it contains the workspace"));
        }
        if inside.is_none() && place.is_linked && op != PathOp::WriteBelow {
            return Some((code::LINK_ESCAPE, "a link in it leads out of the workspace"));
        }
        let is_among = |path: &str| {
            self.policy.allowed.iter().all(|globs| {
                let mut found = Vec::new();
                globs.matching(path, &mut found);
                !found.is_empty()
            })
        };
        match inside {
            Some(inside) if !is_among(inside) => {
                Some((code::NOT_AMONG_ALLOWED, "it is not among the paths that may be changed"))
            }
            _ => None,
        }
    }

    fn case(&self, op: PathOp, place: &Location, is_pattern: bool) -> DefaultCase {
        let Some(inside) = &place.inside else {
            return match op {
                PathOp::Read => DefaultCase::ReadOutside,
                PathOp::Write => DefaultCase::WriteOutside,
                PathOp::WriteBelow => DefaultCase::WriteBelowOutside,
                PathOp::Delete | PathOp::Destroy => DefaultCase::DeleteOutside,
            };
        };
        match op {
            PathOp::Read => DefaultCase::ReadInside,
            PathOp::Write | PathOp::WriteBelow => DefaultCase::WriteInside,
            PathOp::Delete => DefaultCase::DeleteInside,
            PathOp::Destroy if !self.view.has_snapshot => DefaultCase::DestroyLost,
            // A pattern at the top level matches ignored files, too.
            PathOp::Destroy if is_pattern && !inside.contains('/') && inside.starts_with(['*', '?', '[', '.']) => {
                DefaultCase::DestroyPartly
            }
            PathOp::Destroy if self.view.ignored.is_ignored(inside) => DefaultCase::DestroyPartly,
            PathOp::Destroy => DefaultCase::DestroyKept,
        }
    }

    fn is_disposable(&self, place: &Location) -> bool {
        let mut found = Vec::new();
        if let Some(inside) = &place.inside {
            self.policy.disposable.matching(inside, &mut found);
        }
        !found.is_empty()
    }

    /// Returns the rules that forbid something below a place. Rules that apply to any directory do not count, because
    /// one of them always matches.
    fn rules_below(&self, place: &Location, permission: Permission) -> Vec<usize> {
        let pattern = |path: &str| format!("{}/**", path.trim_end_matches('/')).to_lowercase();
        let patterns = [Some(pattern(&place.absolute)), place.home.as_deref().map(pattern)];
        let mut found = Vec::new();
        for (rule, text) in &self.policy.path_texts {
            // The home directory itself may be below the place.
            let text = match (text.strip_prefix("~/"), self.view.home) {
                (Some(rest), Some(home)) => format!("{}/{rest}", home.trim_end_matches('/')),
                _ => text.clone(),
            };
            let is_strict = self.policy.paths[*rule].level > Level::Allow;
            let is_far = text.starts_with('/') && self.policy.paths[*rule].permissions.contains(&permission);
            if is_strict && is_far && patterns.iter().flatten().any(|pattern| overlap(&text.to_lowercase(), pattern)) {
                found.push(*rule);
            }
        }
        found
    }

    /// Returns the rules for a place. Rules for paths outside of the workspace may forbid operations in it, never
    /// permit them.
    fn rules_for(&self, place: &Location, permission: Permission, is_pattern: bool) -> Vec<usize> {
        let (globs, paths) = (&self.policy.path_globs, &self.policy.paths);
        let ask = |path: &str| {
            let mut found = Vec::new();
            if !is_pattern {
                globs.matching(path, &mut found);
                return found;
            }
            // A rule that may match the pattern forbids it; only a rule that certainly matches permits it.
            globs.overlapping(path, &mut found);
            found.retain(|rule| paths[*rule].level > Level::Allow);
            let sure =
                path.find(['*', '?', '[']).and_then(|at| path[..at].rfind('/')).map(|at| format!("{}/_", &path[..at]));
            let mut permitting = Vec::new();
            sure.iter().for_each(|path| globs.matching(path, &mut permitting));
            found.extend(permitting.into_iter().filter(|rule| paths[*rule].level == Level::Allow));
            found
        };
        let elsewhere = std::iter::once(place.absolute.as_str()).chain(place.home.as_deref()).flat_map(ask);
        let elsewhere = elsewhere.filter(|rule| place.inside.is_none() || paths[*rule].level > Level::Allow);
        let mut rules: Vec<usize> = elsewhere.chain(place.inside.as_deref().into_iter().flat_map(ask)).collect();
        rules.retain(|rule| paths[*rule].permissions.contains(&permission));
        rules
    }
}
