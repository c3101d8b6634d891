//! Permissions that a person has granted for a workspace, which last longer than a run.
//!
//! They are kept in Interlock's own directory and never in the repository, because agents can write there. A grant covers
//! the same permission for the same subject, in the same workspace, for the same machine, and nothing else. A revoked
//! grant stays in the file, so that a run that is still open does not add it again.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use interlock_policy::Permission;
use serde::{Deserialize, Serialize};

/// The name of the file in Interlock's directory.
const FILE: &str = "workspace-grants.json";

/// The most grants that the file holds, revoked ones included.
const GRANTS_MAX: usize = 1_000;

/// The size of the largest file that is read.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A permission that a person has granted for a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceGrant {
    /// The id, unique within the file.
    pub id: String,
    /// The root of the workspace.
    pub workspace: PathBuf,
    /// The machine whose runs may use it.
    pub machine: String,
    /// The permission as it was shown, such as `proc.exec:make test`.
    pub permission: String,
    /// The run in which it was granted. Its records say who confirmed it.
    pub run: String,
    /// The time when it was granted, in milliseconds since 1970.
    pub granted_ms: i64,
    /// The time when it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<i64>,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    next: u64,
    #[serde(default)]
    grants: Vec<WorkspaceGrant>,
}

/// The file with the grants of all workspaces. It is replaced as a whole, under a lock.
#[derive(Clone, Debug)]
pub struct WorkspaceGrants(PathBuf);

impl WorkspaceGrants {
    /// Returns the grants that are kept in Interlock's directory.
    pub fn new(home: &Path) -> Self {
        WorkspaceGrants(home.join(FILE))
    }

    /// Returns the grants that are not revoked, oldest first.
    pub fn list(&self) -> Result<Vec<WorkspaceGrant>, String> {
        let mut grants = self.read()?.grants;
        grants.retain(|grant| grant.revoked_ms.is_none());
        Ok(grants)
    }

    /// Keeps permissions that a person has confirmed for a workspace in a run. A permission that the same run has given
    /// before is not added again, even if it was revoked since.
    pub fn keep(
        &self,
        workspace: &Path,
        machine: &str,
        run: &str,
        permissions: &[String],
        now_ms: i64,
    ) -> Result<(), String> {
        let is_of = |grant: &WorkspaceGrant| grant.workspace == workspace && grant.machine == machine;
        let is_known = |grants: &[WorkspaceGrant], permission: &str| {
            let is_same = |grant: &WorkspaceGrant| is_of(grant) && grant.permission == permission;
            grants.iter().any(|grant| is_same(grant) && (grant.revoked_ms.is_none() || grant.run == run))
        };
        let wanted: Vec<String> = permissions.iter().filter_map(|permission| lasting(permission)).collect();
        // The file is locked and written only if there is something new.
        let known = self.read()?.grants;
        if wanted.iter().all(|permission| is_known(&known, permission)) {
            return Ok(());
        }
        self.change(|content| {
            for permission in wanted {
                if is_known(&content.grants, &permission) {
                    continue;
                }
                if content.grants.len() >= GRANTS_MAX {
                    let oldest = content.grants.iter().position(|grant| grant.revoked_ms.is_some());
                    let Some(oldest) = oldest else {
                        let why = "revoke some with `interlock grant --revoke ID`";
                        return Err(format!("there are {GRANTS_MAX} grants for workspaces; {why}"));
                    };
                    content.grants.remove(oldest);
                }
                content.next += 1;
                content.grants.push(WorkspaceGrant {
                    id: format!("g{}", content.next),
                    workspace: workspace.to_owned(),
                    machine: machine.to_owned(),
                    permission,
                    run: run.to_owned(),
                    granted_ms: now_ms,
                    revoked_ms: None,
                });
            }
            Ok(())
        })
    }

    /// Revokes a grant and returns it; `None` if there is no such grant, or if it was revoked before.
    pub fn revoke(&self, id: &str, now_ms: i64) -> Result<Option<WorkspaceGrant>, String> {
        self.change(|content| {
            let found = content.grants.iter_mut().find(|grant| grant.id == id && grant.revoked_ms.is_none());
            Ok(found.map(|grant| {
                grant.revoked_ms = Some(now_ms);
                grant.clone()
            }))
        })
    }

    fn read(&self) -> Result<Content, String> {
        let bytes = match fs::metadata(&self.0) {
            Ok(found) if found.len() > BYTES_MAX => return Err(format!("{} is too large", self.0.display())),
            Ok(_) => fs::read(&self.0).map_err(|error| self.wrong("read", &error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Content::default()),
            Err(error) => return Err(self.wrong("read", &error)),
        };
        let damaged = |error| format!("{} is damaged: {error}; move it away and grant again", self.0.display());
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> Result<T, String>) -> Result<T, String> {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let lock = self.0.with_extension("lock");
        interlock_journal::private::file(&lock).map_err(|error| error.to_string())?;
        let lock = fs::File::open(&lock).map_err(|error| self.wrong("lock", &error))?;
        lock.lock().map_err(|error| self.wrong("lock", &error))?;
        let mut content = self.read()?;
        let result = change(&mut content)?;
        let text = serde_json::to_vec_pretty(&content).map_err(|error| error.to_string())?;
        // A temporary file is private from the start.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| self.wrong("write", &error))?;
        file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(|error| self.wrong("write", &error))?;
        file.persist(&self.0).map_err(|error| self.wrong("write", &error.error))?;
        Ok(result)
    }

    fn wrong(&self, verb: &str, error: &std::io::Error) -> String {
        format!("cannot {verb} {}: {error}", self.0.display())
    }
}

/// The permission to write what the plans of a conversation name, as it is kept for a workspace.
fn all_plans() -> String {
    format!("{}:plan ...", Permission::Write)
}

/// Returns true if a permission is the one to write what a plan names.
pub(super) fn is_of_plan(permission: &str) -> bool {
    permission.strip_prefix(Permission::Write.word()).is_some_and(|rest| rest.starts_with(":plan "))
}

/// Returns the permission as it is kept for a workspace. `None` means that it ends with the run: a command that policy
/// does not understand is confirmed each time, and a number of files belongs to one plan.
fn lasting(permission: &str) -> Option<String> {
    let (word, subject) = permission.split_once(':')?;
    let is_write = word == Permission::Write.word();
    match () {
        () if is_of_plan(permission) => Some(all_plans()),
        () if subject.starts_with("exact:") || is_write && subject.contains(" files of plan ") => None,
        () => Some(permission.to_owned()),
    }
}

/// Returns true if a permission can be kept for a workspace.
pub(super) fn is_kept(permission: &str) -> bool {
    lasting(permission).is_some()
}

impl WorkspaceGrant {
    /// Returns true if the grant covers a permission: the same words, or the writes of any plan.
    pub(super) fn covers(&self, permission: &str) -> bool {
        self.permission == permission || is_of_plan(permission) && self.permission == all_plans()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants() -> (tempfile::TempDir, WorkspaceGrants) {
        let home = tempfile::tempdir().unwrap();
        let grants = WorkspaceGrants::new(home.path());
        (home, grants)
    }

    fn keep(grants: &WorkspaceGrants, run: &str, permissions: &[&str]) {
        let permissions: Vec<String> = permissions.iter().map(|&permission| permission.to_owned()).collect();
        grants.keep(Path::new("/w"), "coder", run, &permissions, 1).unwrap();
    }

    #[test]
    fn a_grant_covers_only_the_words_that_were_shown() {
        let (_home, grants) = grants();
        keep(&grants, "r1", &["proc.exec:make ...", "fs.write:plan p-1", "fs.delete:a/**"]);
        let kept = grants.list().unwrap();
        let covered = |permission: &str| kept.iter().any(|grant| grant.covers(permission));
        assert!(covered("proc.exec:make ...") && covered("fs.write:plan p-7"));
        for other in ["proc.exec:make test", "fs.write:a.c", "fs.delete:a/b", "net.connect:make ..."] {
            assert!(!covered(other), "{other}");
        }
    }

    #[test]
    fn a_command_that_is_not_understood_is_not_kept() {
        let (_home, grants) = grants();
        keep(&grants, "r1", &["proc.exec:exact:00: $X", "fs.write:30 files of plan p-1"]);
        assert_eq!(grants.list().unwrap(), []);
    }

    #[test]
    fn a_revoked_grant_is_not_added_again_by_its_run() {
        let (_home, grants) = grants();
        keep(&grants, "r1", &["proc.exec:make"]);
        keep(&grants, "r1", &["proc.exec:make"]);
        assert_eq!(grants.list().unwrap().len(), 1);
        assert_eq!(grants.revoke("g1", 2).unwrap().unwrap().permission, "proc.exec:make");
        assert_eq!(grants.revoke("g1", 3).unwrap(), None);
        keep(&grants, "r1", &["proc.exec:make"]);
        assert_eq!(grants.list().unwrap(), []);
        keep(&grants, "r2", &["proc.exec:make"]);
        assert_eq!(grants.list().unwrap()[0].id, "g2");
    }

    #[test]
    fn a_damaged_file_grants_nothing() {
        let (home, grants) = grants();
        fs::write(home.path().join(FILE), "{").unwrap();
        assert!(grants.list().unwrap_err().contains("is damaged"));
    }
}
