//! `git.commit` and `workspace.commit`: the only activities that change a branch of the user.

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::Evidence;
use interlock_process::Sandbox;
use interlock_workspace::{COMMIT_EVIDENCE, Commit, Committed, Error, Workspace};
use serde_json::{Value as Json, json};

use super::{begin, failed, hooks::ConfinedHooks, keep};

const KNOWN: [&str; 8] = ["message", "branch", "tree", "from", "to", "hooks", "goal", "pull_request_text"];

/// The code of an error: no commit was made.
const COMMIT_FAILED: &str = "COMMIT_FAILED";

/// The longest subject line of a message that is derived from a goal.
const SUBJECT_MAX: usize = 72;

/// Commits, and reports with a signal if that was not possible.
#[derive(Clone, Debug)]
pub struct GitCommit(Committer);

impl GitCommit {
    /// Creates the activity. `workspace` makes the commits, and `sandbox` confines hooks.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        GitCommit(Committer { workspace, sandbox })
    }
}

impl Activity for GitCommit {
    fn name(&self) -> &str {
        "git.commit"
    }

    fn summary(&self) -> &str {
        "Commits the current files, on the current branch or another."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("commit_success"), Signal::open("commit_fail"), Signal::open("tree_changed")] }
    }

    fn schema(&self) -> Schema {
        fields()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let committer = self.0.clone();
        begin(attempt, move |attempt| match committer.commit(attempt) {
            Ok(done) => done.outcome(attempt, "commit_success"),
            Err(Failed::Input(outcome)) => Err(outcome),
            Err(Failed::Commit(error, ran)) => Ok(refused(attempt, &error, &ran).with(ran.evidence)),
        })
    }
}

/// Commits, and reports an error if that was not possible.
#[derive(Clone, Debug)]
pub struct WorkspaceCommit(Committer);

impl WorkspaceCommit {
    /// Creates the activity. `workspace` makes the commits, and `sandbox` confines hooks.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        WorkspaceCommit(Committer { workspace, sandbox })
    }
}

impl Activity for WorkspaceCommit {
    fn name(&self) -> &str {
        "workspace.commit"
    }

    fn summary(&self) -> &str {
        "Commits the current files, or ends with an error."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("committed")] }
    }

    fn schema(&self) -> Schema {
        fields()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let committer = self.0.clone();
        begin(attempt, move |attempt| match committer.commit(attempt) {
            Ok(done) => done.outcome(attempt, "committed"),
            Err(Failed::Input(outcome)) => Err(outcome),
            Err(Failed::Commit(Error::Commit(why), ran)) => Err(Outcome::error(COMMIT_FAILED, why).with(ran.evidence)),
            Err(Failed::Commit(error, ran)) => Err(failed(&error).with(ran.evidence)),
        })
    }
}

/// Makes commits, and confines their hooks.
#[derive(Clone, Debug)]
struct Committer {
    workspace: Workspace,
    sandbox: Sandbox,
}

enum Failed {
    Input(Outcome),
    /// No commit was made; its hooks may have run.
    Commit(Error, HooksRun),
}

/// The hooks that ran around a commit.
#[derive(Debug, Default)]
struct HooksRun {
    evidence: Vec<Evidence>,
    /// Name, exit code, output and breaches of each.
    results: Vec<Json>,
}

/// A commit that was made, with its pull request text.
struct Done {
    made: Committed,
    pull_request: Option<String>,
    hooks: HooksRun,
}

/// The input schema of both activities.
fn fields() -> Schema {
    schema::fields([
        ("message", schema::text()),
        ("goal", schema::text()),
        ("branch", schema::text()),
        ("tree", schema::text()),
        ("from", schema::text()),
        ("to", schema::text()),
        ("hooks", schema::flag()),
        ("pull_request_text", schema::flag()),
    ])
}

impl Committer {
    fn commit(&self, attempt: &Attempt) -> Result<Done, Failed> {
        let input = |bad: interlock_activity::BadArgument| Failed::Input(bad.into());
        let given = Arguments::new(&attempt.with, &KNOWN).map_err(input)?;
        let goal = given.text("goal").map_err(input)?;
        let message = message(&given, goal, attempt);
        let text = |name: &str| {
            let said = given.text(name).map_err(input)?;
            Ok::<_, Failed>(said.filter(|text| !text.is_empty()).map(str::to_owned))
        };
        let only = match (text("from")?, text("to")?) {
            (Some(from), Some(to)) => Some((from, to)),
            (None, None) => None,
            _ => {
                return Err(input(interlock_activity::BadArgument::field(
                    "from",
                    "and `to` belong together".to_owned(),
                )));
            }
        };
        let order = Commit {
            message: message.clone(),
            branch: given.text("branch").map_err(input)?.map(str::to_owned),
            tree: text("tree")?,
            only,
            paths: Vec::new(),
            run: Some(attempt.run.to_string()),
        };
        let has_hooks = given.value("hooks") == Some(&Value::Bool(true));
        let (made, hooks) = self.make(attempt, &order, has_hooks)?;
        let is_wanted = given.value("pull_request_text") == Some(&Value::Bool(true));
        let pull_request = is_wanted.then(|| pull_request(&message, goal, &made));
        Ok(Done { made, pull_request, hooks })
    }

    /// Makes the commit, and returns it with its hooks.
    fn make(&self, attempt: &Attempt, order: &Commit, has_hooks: bool) -> Result<(Committed, HooksRun), Failed> {
        let none = HooksRun::default;
        if !has_hooks {
            let made = self.workspace.commit(&attempt.folder, order);
            return made.map(|made| (made, none())).map_err(|error| Failed::Commit(error, none()));
        }
        let hooks = ConfinedHooks::new(attempt, &self.sandbox);
        let made = self.workspace.commit_with_hooks(&attempt.folder, order, &hooks);
        let (evidence, results) = hooks.into_results();
        let ran = HooksRun { evidence, results };
        match made {
            Ok(made) => Ok((made, ran)),
            Err(error) => Err(Failed::Commit(error, ran)),
        }
    }
}

/// Returns the commit message: the machine's own, or else the goal, or else one that names the run.
fn message(given: &Arguments<'_>, goal: Option<&str>, attempt: &Attempt) -> String {
    let said = given.value("message").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    if let Some(said) = said {
        return said.to_owned();
    }
    match goal.and_then(|goal| goal.lines().map(str::trim).find(|line| !line.is_empty())) {
        Some(goal) => goal.chars().take(SUBJECT_MAX).collect(),
        None => format!("Changes by run {}", attempt.run),
    }
}

/// Returns a text for a pull request: the commit message, the goal and the changed files.
fn pull_request(message: &str, goal: Option<&str>, made: &Committed) -> String {
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    let mut text = format!("# {subject}\n");
    for part in [body.trim(), goal.unwrap_or_default().trim()] {
        if !part.is_empty() && part != subject {
            text.push_str(&format!("\n{part}\n"));
        }
    }
    text.push_str("\n## Files\n\n");
    for (path, lines) in &made.files {
        let lines = lines.map_or("binary".to_owned(), |(added, removed)| format!("+{added} -{removed}"));
        text.push_str(&format!("- `{path}` ({lines})\n"));
    }
    text
}

impl Done {
    fn outcome(self, attempt: &Attempt, signal: &str) -> Result<Outcome, Outcome> {
        let Done { made, pull_request, hooks } = self;
        let moved = serde_json::to_vec(&made.moved).map_err(|error| Outcome::error(code::FAILED, error.to_string()))?;
        let mut evidence = vec![keep(attempt, COMMIT_EVIDENCE, "application/json", &moved)?];
        evidence.extend(hooks.evidence);
        if let Some(text) = &pull_request {
            evidence.push(keep(attempt, "pull_request", "text/markdown", text.as_bytes())?);
        }
        let mut data = vec![
            ("commit", Value::from(made.commit)),
            ("branch", made.branch.map_or(Value::Null, Value::from)),
            ("tree", Value::from(made.tree)),
        ];
        data.extend(results(&hooks.results));
        data.extend(pull_request.map(|text| ("pull_request_text", Value::from(text))));
        Ok(Outcome::signal(signal, Value::map(data)).with(evidence))
    }
}

/// Returns the results of hooks as a field of an outcome, if any ran.
fn results(results: &[Json]) -> Option<(&'static str, Value)> {
    (!results.is_empty()).then(|| ("hooks", Value::from(json!(results))))
}

/// Returns the outcome of a refused commit, in the form that the machine takes.
fn refused(attempt: &Attempt, error: &Error, ran: &HooksRun) -> Outcome {
    match error {
        Error::TreeChanged { found, .. } if attempt.invocation.takes("tree_changed") => {
            let data = [("tree", Value::from(found.as_str())), ("summary", Value::from(error.to_string()))];
            Outcome::signal("tree_changed", Value::map(data))
        }
        Error::Commit(_) | Error::Git { .. } => {
            let why = Value::from(error.to_string());
            let data = [("summary", why.clone()), ("reason", why)].into_iter().chain(results(&ran.results));
            Outcome::signal("commit_fail", Value::map(data))
        }
        other => failed(other),
    }
}
