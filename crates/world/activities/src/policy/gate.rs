//! The gate: programs and requests start only after policy has allowed them, or a person has.
//!
//! Activities state their requests themselves (`Activity::requests`); nothing here knows one by name.

use std::path::Path;

use interlock_activity::{Attempt, Future, Gatekeeper, Outcome, OutcomeKind, UseGrants, refused::Refused};
use interlock_chart::Value;
use interlock_policy::{Command, Decision, Request, Scope, decide};

use super::{
    CONFIRMATION_NEEDED, POLICY_DENIED, blocking,
    granted::Granted,
    project::{Policies, root},
    sight::Sight,
};

/// Asks policy before the attempts of a registry start.
#[derive(Clone, Debug)]
pub struct Gate {
    pub(super) policies: Policies,
}

impl Gate {
    /// Creates a gate with hosts that the user of the runtime has allowed, besides those that a policy allows.
    pub fn new(allowed_hosts: Vec<String>) -> Self {
        Gate { policies: Policies::new(allowed_hosts) }
    }

    /// Sets Interlock's directory, which keeps the grants of workspaces.
    #[must_use]
    pub fn with_home(self, home: Option<&Path>) -> Self {
        Gate { policies: self.policies.with_home(home) }
    }

    /// Allows an attempt to connect to a host, or returns its outcome.
    pub async fn connect(&self, attempt: &Attempt, host: String, port: u16) -> Result<(), Outcome> {
        self.allow(attempt, vec![Request::Connect { host, port: Some(port) }]).await
    }

    /// Allows an attempt to make all of these requests, or returns its outcome.
    pub(crate) async fn allow(&self, attempt: &Attempt, requests: Vec<Request>) -> Result<(), Outcome> {
        if requests.is_empty() {
            return Ok(());
        }
        let (this, asked) = (self.clone(), attempt.clone());
        let decisions = blocking(move || {
            let policy = this.policies.of(&asked)?;
            let cwd = cwd(&asked);
            let sight = Sight::of(&asked, cwd.as_deref(), requests.iter().any(uses_git));
            let granted = Granted::trusted(&this.policies, &asked)?;
            let decided = |request: Request| {
                let decision = granted.applied(decide(&request, &sight.view(), &policy));
                (subject(&request), decision)
            };
            Ok(requests.into_iter().map(decided).collect::<Vec<_>>())
        });
        settle(attempt, decisions.await?).await
    }
}

impl Gate {
    /// Returns the permissions that shell commands of a later activity will need, with the reasons; both are empty if policy
    /// allows all of them. A command that policy refuses is an error: the run would end with it later. May block.
    pub(crate) fn needs(&self, attempt: &Attempt, lines: &[&str]) -> Result<(Vec<String>, Vec<String>), Outcome> {
        let policy = self.policies.of(attempt)?;
        let sight = Sight::of(attempt, None, lines.iter().any(|line| line.contains("git")));
        let granted = Granted::trusted(&self.policies, attempt)?;
        let (mut scopes, mut reasons) = (Vec::new(), Vec::new());
        for line in lines {
            let request = Request::Command(Command::Shell((*line).to_owned()));
            match granted.applied(decide(&request, &sight.view(), &policy)) {
                Decision::Allow => {}
                Decision::Deny { code, reason } => return Err(denied(code, &format!("`{line}`: {reason}"))),
                Decision::Confirm { scope, reason } => {
                    scopes.extend(scope.iter().map(ToString::to_string));
                    reasons.push(format!("`{line}`: {reason}"));
                }
            }
        }
        Ok((scopes, reasons))
    }
}

/// Returns the directory that an attempt works in, if it names one. The directory of a tool call is relative to the root
/// of the workspace.
fn cwd(attempt: &Attempt) -> Option<String> {
    let with = &attempt.with;
    if with.get("call").is_some() {
        let args = with.get("call").and_then(|call| call.get("args"));
        let cwd = args.and_then(|args| args.get("cwd")).and_then(Value::as_str).unwrap_or_default();
        return Some(root(&attempt.folder).join(cwd).to_string_lossy().into_owned());
    }
    with.get("cwd").or_else(|| with.get("folder")).and_then(Value::as_str).map(str::to_owned)
}

/// Succeeds if every decision allows the request or the missing permissions are granted; otherwise returns the outcome,
/// with the refusals as evidence.
pub(super) async fn settle(attempt: &Attempt, decisions: Vec<(String, Decision)>) -> Result<(), Outcome> {
    let (mut scopes, mut reasons): (Vec<Scope>, Vec<String>) = Default::default();
    let mut refused = Vec::new();
    for (what, decision) in decisions {
        match decision {
            Decision::Allow => {}
            Decision::Deny { code, reason } => {
                return Err(with_refused(attempt, denied(code, &reason), &[Refused::new(what, code, &reason)]));
            }
            Decision::Confirm { scope, reason } => {
                let named = scope.iter().map(ToString::to_string).collect();
                refused.push(Refused { scopes: named, ..Refused::new(what, CONFIRMATION_NEEDED, &reason) });
                scopes.extend(scope);
                reasons.push(reason);
            }
        }
    }
    if scopes.is_empty() {
        return Ok(());
    }
    let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
    let order = UseGrants {
        run: attempt.run.clone(),
        activity: attempt.activity,
        number: attempt.number,
        scopes: scopes.clone(),
    };
    match attempt.host.use_grants(order).await {
        true => Ok(()),
        false => Err(with_refused(attempt, unconfirmed(&attempt.run, &scopes, &reasons.join("; ")), &refused)),
    }
}

/// Adds refusals to an outcome.
pub(super) fn with_refused(attempt: &Attempt, outcome: Outcome, refused: &[Refused]) -> Outcome {
    match Refused::keep(&attempt.evidence, refused) {
        Ok(evidence) => outcome.with([evidence]),
        Err(not_stored) => not_stored,
    }
}

/// Adds the refusal to the outcome of a decider that denies.
pub(super) fn with_denial(attempt: &Attempt, outcome: Outcome) -> Outcome {
    let OutcomeKind::Signal { name, data } = &outcome.kind else { return outcome };
    if name != "DENY" {
        return outcome;
    }
    let word = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
    let refused = Refused::new(decided_on(&attempt.with), word("code"), word("reason"));
    with_refused(attempt, outcome, &[refused])
}

/// Returns the thing that a decider decides on: the command, the path or the name of a tool call, or a commit, or a plan.
fn decided_on(with: &Value) -> String {
    let Some(call) = with.get("call") else {
        let branch = with.get("branch").and_then(Value::as_str);
        return branch.map_or_else(|| "the plan".to_owned(), |branch| format!("a commit on {branch}"));
    };
    let arg = |name: &str| call.get("args").and_then(|args| args.get(name)).and_then(Value::as_str);
    let named = arg("command").or_else(|| arg("path")).or_else(|| call.get("name").and_then(Value::as_str));
    named.unwrap_or("a tool call").to_owned()
}

/// Returns the thing that a request asks for, as a person would write it.
fn subject(request: &Request) -> String {
    match request {
        Request::Command(Command::Shell(line)) => line.clone(),
        Request::Command(Command::Words(words)) => words.join(" "),
        Request::Path { path, .. } => path.clone(),
        Request::Connect { host, port: Some(port) } => format!("{host}:{port}"),
        Request::Connect { host, port: None } => host.clone(),
        Request::Unconfined { command, .. } => command.clone(),
        Request::Git(words) => format!("git {}", words.join(" ")),
        Request::Patch(patch) => {
            let paths: Vec<&str> = patch.files.iter().map(|file| file.path.as_str()).collect();
            format!("a patch of {}", paths.join(", "))
        }
    }
}

fn denied(code: &str, reason: &str) -> Outcome {
    error(POLICY_DENIED, reason.to_owned(), vec![("reason", Value::from(reason)), ("rule", Value::from(code))])
}

fn unconfirmed(run: &str, scopes: &[String], reason: &str) -> Outcome {
    let words: Vec<String> = scopes.iter().map(|scope| format!("'{}'", scope.replace('\'', r"'\''"))).collect();
    let message = format!("{reason}; Hint: grant it with `interlock grant {run} {}`", words.join(" "));
    let scopes = Value::List(scopes.iter().map(|scope| Value::from(scope.as_str())).collect());
    error(CONFIRMATION_NEEDED, message, vec![("reason", Value::from(reason)), ("scope", scopes)])
}

fn error(code: &str, message: String, more: Vec<(&str, Value)>) -> Outcome {
    let said = [("code", Value::from(code)), ("message", Value::from(message))];
    let data = Value::map(said.into_iter().chain(more));
    OutcomeKind::Error { data }.into()
}

pub(super) fn uses_git(request: &Request) -> bool {
    match request {
        Request::Command(Command::Shell(text)) => text.contains("git"),
        Request::Command(Command::Words(words)) => words.iter().any(|word| word.contains("git")),
        Request::Git(_) => true,
        _ => false,
    }
}

impl Gatekeeper for Gate {
    fn admit(&self, attempt: &Attempt, requests: Vec<Request>) -> Future<Result<(), Outcome>> {
        let (this, attempt) = (self.clone(), attempt.clone());
        Box::pin(async move { this.allow(&attempt, requests).await })
    }
}
