//! Policy on the tool calls of coding agents: every call becomes requests, and the strictest decision counts.

use interlock_activity::{Attempt, Outcome};
use interlock_policy::{
    ChangeKind, Command, Decision, Patch, PathOp, Request, decide,
    risk::{Table, weakenings},
};
use interlock_workspace::patch as text;

use super::{gate::Gate, sight::Sight};
use crate::http;

/// The action of an agent's tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentAction {
    /// It runs a command.
    Execute(String),
    /// It changes these files.
    Edit(Vec<String>),
    /// It reads these files.
    Read(Vec<String>),
    /// It fetches an address.
    Fetch(String),
    /// An action that is not known.
    Unknown(String),
}

impl Gate {
    /// Decides on the action of an agent. Grants are not used: a person answers the agent's own request. May block.
    pub fn judge_action(&self, attempt: &Attempt, action: &AgentAction) -> Result<Decision, Outcome> {
        let requests = match action {
            AgentAction::Execute(command) => vec![Request::Command(Command::Shell(command.clone()))],
            AgentAction::Edit(paths) => requests(paths, PathOp::Write),
            AgentAction::Read(paths) => requests(paths, PathOp::Read),
            AgentAction::Fetch(url) => match http::asked(url) {
                Some((host, port)) => vec![Request::Connect { host, port: Some(port) }],
                None => return Ok(unknown(&format!("the address `{url}` is not understood"))),
            },
            AgentAction::Unknown(name) => return Ok(unknown(&format!("policy does not know the tool `{name}`"))),
        };
        let policy = self.policies.of(attempt)?;
        let sight = Sight::of(attempt, None, matches!(action, AgentAction::Execute(_)));
        let mut strictest = Decision::Allow;
        for request in &requests {
            let decision = decide(request, &sight.view(), &policy);
            if decision.level() > strictest.level() {
                strictest = decision;
            }
        }
        Ok(strictest)
    }

    /// Decides if a program may change a protected path of the workspace. Grants are not used. May block.
    pub fn judge_protected(&self, attempt: &Attempt, path: &str) -> Result<Decision, Outcome> {
        let path = super::project::root(&attempt.folder).join(path).to_string_lossy().into_owned();
        let policy = self.policies.of(attempt)?;
        let sight = Sight::of(attempt, None, false);
        Ok(decide(&Request::Path { op: PathOp::WriteBelow, path }, &sight.view(), &policy))
    }

    /// Returns the ways in which a patch deletes or weakens tests, one sentence each. May block.
    pub fn weakened_tests(&self, attempt: &Attempt, patch: &[u8]) -> Vec<String> {
        let read = match text::Patch::parse(patch) {
            Ok(read) => interlock_tools::seen(&read),
            Err(problem) => return vec![format!("the change could not be inspected: {problem}")],
        };
        let table = super::project::risks(attempt).unwrap_or_else(|_| Table::builtin().clone());
        weakened(&read, &table)
    }
}

/// Returns the ways in which a patch deletes or weakens tests. A file is a test if the project's table of risks says so, or
/// the table by which verification finds tests.
fn weakened(patch: &Patch, table: &Table) -> Vec<String> {
    let is_test = |path: &str| table.is_test(path) || interlock_verification::is_test(path);
    let deleted = patch.files.iter().filter(|file| file.kind == ChangeKind::Deleted && is_test(&file.path));
    let deleted = deleted.map(|file| format!("{} was deleted", file.path));
    deleted.chain(weakenings(patch, table).iter().map(ToString::to_string)).collect()
}

fn requests(paths: &[String], op: PathOp) -> Vec<Request> {
    paths.iter().map(|path| Request::Path { op, path: path.clone() }).collect()
}

fn unknown(reason: &str) -> Decision {
    Decision::Confirm { scope: Vec::new(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use interlock_policy::FileChange;

    use super::*;

    #[test]
    fn deleted_data_of_tests_weaken_them_wherever_verification_would_look() {
        let deleted = |path: &str| FileChange {
            path: path.to_owned(),
            kind: ChangeKind::Deleted,
            added: Vec::new(),
            removed: Vec::new(),
        };
        let paths =
            ["tests/a.py", "web/__snapshots__/a.js.snap", "testdata/a.golden", "ci/run.bats", "src/a.py", "notes.md"];
        let patch = Patch { files: paths.map(deleted).into() };
        let told = weakened(&patch, Table::builtin());
        assert_eq!(told, paths[..4].iter().map(|path| format!("{path} was deleted")).collect::<Vec<_>>());
    }
}
