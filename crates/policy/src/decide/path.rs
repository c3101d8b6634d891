//! One path: where it is by its letters, where links lead it, and what the rules say about both.

use super::{Scene, strictest};
use crate::{
    Level, PathOp, Permission, code,
    glob::{is_pattern, overlap},
    path::{Place, places},
    policy::{Case, LastWord},
};

impl PathOp {
    fn permission(self) -> Permission {
        match self {
            PathOp::Read => Permission::Read,
            PathOp::Write | PathOp::WriteBelow => Permission::Write,
            PathOp::Delete => Permission::Delete,
            PathOp::Destroy => Permission::Destroy,
        }
    }

    fn word(self) -> &'static str {
        match self {
            PathOp::Read => "read",
            PathOp::Write => "write",
            PathOp::WriteBelow => "let a program write",
            PathOp::Delete => "delete",
            PathOp::Destroy => "do away with",
        }
    }
}

impl Scene<'_> {
    /// Something is done with a path as it is written.
    pub(crate) fn path(&mut self, op: PathOp, path: &str, cwd: &str) {
        self.any_path(op, path, cwd, false);
    }

    /// Something is done with every path that a pattern stands for.
    pub(crate) fn pattern(&mut self, op: PathOp, path: &str, cwd: &str) {
        self.any_path(op, path, cwd, is_pattern(path));
    }

    /// A word that may or may not be the name of a file: only rules count, not where it is.
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
            Err(why) => self.find(op.permission(), path, Level::Deny, code::BAD_PATH, why),
            Ok(places) => places.iter().for_each(|place| self.place(op, place, is_pattern)),
        }
    }

    fn place(&mut self, op: PathOp, place: &Place, is_pattern: bool) {
        let (permission, shown) = (op.permission(), place.shown());
        if op != PathOp::Read
            && let Some((code, why)) = self.never(op, place)
        {
            return self.find(permission, shown, Level::Deny, code, format!("{} `{shown}`: {why}", op.word()));
        }
        let made_again =
            LastWord { level: Level::Allow, loosen_to: Level::Allow, reason: "it can be made again".to_owned() };
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
        let reason = format!("{} `{shown}`: {reason}{rule}", op.word());
        self.find(permission, shown, level, code, reason);
    }

    /// What no policy can permit.
    fn never(&self, op: PathOp, place: &Place) -> Option<(&'static str, &'static str)> {
        let inside = place.inside.as_deref();
        if place.is_git_internal() && op != PathOp::Read {
            return Some((code::GIT_INTERNAL, "it belongs to git itself"));
        }
        if matches!(op, PathOp::Delete | PathOp::Destroy) && place.holds_root(self.view) {
            return Some((code::WOULD_LOSE_WORK, "it holds the workspace itself"));
        }
        if inside.is_none() && place.is_linked && op != PathOp::WriteBelow {
            return Some((code::LINK_ESCAPE, "a link leads it out of the workspace"));
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

    fn case(&self, op: PathOp, place: &Place, is_pattern: bool) -> Case {
        let Some(inside) = &place.inside else {
            return match op {
                PathOp::Read => Case::ReadOutside,
                PathOp::Write => Case::WriteOutside,
                PathOp::WriteBelow => Case::WriteBelowOutside,
                PathOp::Delete | PathOp::Destroy => Case::DeleteOutside,
            };
        };
        match op {
            PathOp::Read => Case::ReadInside,
            PathOp::Write | PathOp::WriteBelow => Case::WriteInside,
            PathOp::Delete => Case::DeleteInside,
            PathOp::Destroy if !self.view.has_snapshot => Case::DestroyLost,
            // A pattern at the top means ignored files too.
            PathOp::Destroy if is_pattern && !inside.contains('/') && inside.starts_with(['*', '?', '[', '.']) => {
                Case::DestroyPartly
            }
            PathOp::Destroy if self.view.ignored.is_ignored(inside) => Case::DestroyPartly,
            PathOp::Destroy => Case::DestroyKept,
        }
    }

    fn is_disposable(&self, place: &Place) -> bool {
        let mut found = Vec::new();
        if let Some(inside) = &place.inside {
            self.policy.disposable.matching(inside, &mut found);
        }
        !found.is_empty()
    }

    /// The rules that forbid something below a place. Those for any folder whatever do not count: there is always one of them.
    fn rules_below(&self, place: &Place, permission: Permission) -> Vec<usize> {
        let pattern = |path: &str| format!("{}/**", path.trim_end_matches('/')).to_lowercase();
        let patterns = [Some(pattern(&place.absolute)), place.home.as_deref().map(pattern)];
        let mut found = Vec::new();
        for (rule, text) in &self.policy.path_texts {
            // `~` may itself be below the place.
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

    /// The rules that speak of a place. Those for other parts of the computer may forbid what is in the workspace, never permit it.
    fn rules_for(&self, place: &Place, permission: Permission, is_pattern: bool) -> Vec<usize> {
        let (globs, paths) = (&self.policy.path_globs, &self.policy.paths);
        let ask = |path: &str| {
            let mut found = Vec::new();
            if !is_pattern {
                globs.matching(path, &mut found);
                return found;
            }
            // A rule that could be about what a pattern stands for forbids it; only one that surely is permits it.
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
