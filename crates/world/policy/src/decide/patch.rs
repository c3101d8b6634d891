//! Patches: checks every path that a patch touches, and its size.

use super::Scene;
use crate::{ChangeKind, FileChange, Level, Patch, PathOp, Permission, code, path::places};

impl Scene<'_> {
    pub(super) fn patch(&mut self, patch: &Patch) {
        for file in &patch.files {
            self.file(file);
        }
        self.size(patch);
        self.names_alike(patch);
    }

    fn file(&mut self, file: &FileChange) {
        let root = self.view.root;
        match &file.kind {
            ChangeKind::Added | ChangeKind::Modified | ChangeKind::Binary => self.path(PathOp::Write, &file.path, root),
            ChangeKind::Deleted => self.path(PathOp::Delete, &file.path, root),
            ChangeKind::Renamed { from } => {
                self.path(PathOp::Delete, from, root);
                self.path(PathOp::Write, &file.path, root);
            }
            ChangeKind::Linked { to } => {
                self.path(PathOp::Write, &file.path, root);
                self.link(&file.path, to);
            }
        }
    }

    /// A link must stay in the workspace and out of git's directory.
    fn link(&mut self, path: &str, to: &str) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let from = format!("{}/{folder}", self.view.root);
        let from = from.trim_end_matches('/');
        let leads_out = match places(to, from, self.view) {
            Ok(places) => places.iter().any(|place| place.inside.is_none() || place.is_git_internal()),
            Err(_) => true,
        };
        if leads_out {
            let reason = format!("link `{path}`: its target `{to}` is outside the workspace or inside .git");
            self.find(Permission::Write, path, Level::Deny, code::LINK_ESCAPE, reason);
        }
    }

    fn size(&mut self, patch: &Patch) {
        let limits = self.policy.limits();
        let measured = [
            ("files", patch.files.len(), limits.files),
            ("lines", patch.lines(), limits.lines),
            ("bytes", patch.bytes(), limits.bytes),
        ];
        for (what, found, most) in measured {
            if found as u64 > most {
                let reason = format!("the patch changes {found} {what}; {most} are allowed");
                self.find(Permission::Write, &format!("{found} {what}"), Level::Deny, code::TOO_BIG, reason);
            }
        }
    }

    /// Names that differ only in case are one file on some systems, so one change could hide another.
    fn names_alike(&mut self, patch: &Patch) {
        let mut names: Vec<(String, &str)> =
            patch.files.iter().map(|file| (file.path.to_lowercase(), file.path.as_str())).collect();
        names.sort_unstable();
        for pair in names.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1 {
                let reason =
                    format!("`{}` and `{}` are the same file on a case-insensitive file system", pair[0].1, pair[1].1);
                self.find(Permission::Write, pair[1].1, Level::Deny, code::BAD_PATH, reason);
            }
        }
    }
}
