//! `policy.check`: decides if a patch may be applied, and computes its risk.

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code, refused::Refused, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_policy::{Decision, Patch, Policy, Request, decide, risk};
use interlock_workspace::{Workspace, patch as text};
use serde::Deserialize;

use super::{
    blocking, change,
    gate::{Gate, settle},
    given, patch,
    project::{self, Policies, root},
    sight::Sight,
};

/// Checks a patch against the policy and the constraints.
#[derive(Clone, Debug)]
pub struct PolicyCheck {
    policies: Policies,
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct With {
    patch: String,
    #[serde(default)]
    diagnostic: bool,
    #[serde(default)]
    change_constraint: String,
    #[serde(default)]
    constraints: Constraints,
    /// The tree that the patch applies to, if it is not the tree of the run's directory.
    tree: Option<String>,
    /// The directory that the paths of the constraints are relative to, if it is not the run's own.
    #[serde(default)]
    repo: String,
    /// The evidence for the change. If it is not given, one piece is assumed, or none if the change is only a
    /// diagnostic.
    evidence_refs: Option<Vec<String>>,
}

/// The constraints of a run. A machine may give more fields than policy reads.
#[derive(Default, Deserialize)]
struct Constraints {
    #[serde(default)]
    allowed_paths: Vec<String>,
    #[serde(default)]
    forbidden_paths: Vec<String>,
    #[serde(default)]
    allow_formatting: bool,
}

/// The result of the check.
struct Checked {
    /// The reasons for a refusal.
    problems: Vec<String>,
    decision: Decision,
    risk: Option<risk::Risk>,
}

const VALID: Signal =
    Signal::new("patch_valid", || schema::fields([("risk_score", schema::number()), ("reasons", schema::text())]));
const INVALID: Signal = Signal::new("patch_invalid", || {
    schema::fields([("summary", schema::text()), ("evidence_refs", schema::list(schema::text()))])
});

impl Activity for PolicyCheck {
    fn name(&self) -> &str {
        "policy.check"
    }

    fn summary(&self) -> &str {
        "Decides whether a patch may be applied, and computes its risk."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[VALID, INVALID]
    }

    fn schema(&self) -> Schema {
        let constraints = schema::open(schema::fields([
            ("allowed_paths", schema::list(schema::text())),
            ("forbidden_paths", schema::list(schema::text())),
            ("allow_formatting", schema::flag()),
        ]));
        let fields = schema::fields([
            ("patch", schema::text()),
            ("diagnostic", schema::flag()),
            ("change_constraint", schema::text()),
            ("constraints", constraints),
            ("tree", schema::text()),
            ("repo", schema::text()),
            ("evidence_refs", schema::list(schema::text())),
        ]);
        schema::needing(fields, &["patch"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn get_ready(&self) {
        Policy::builtin();
        risk::Table::builtin();
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}

impl PolicyCheck {
    /// Creates the activity with the same policies as a gate.
    pub fn new(gate: &Gate, workspace: Workspace) -> Self {
        PolicyCheck { policies: gate.policies.clone(), workspace }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let with: With = given(&attempt.with)?;
        let asked = attempt.clone();
        let mut checked = blocking(move || self.check(&asked, &with)).await?;
        let mut refusals = Vec::new();
        if let Decision::Deny { code, reason } = &checked.decision {
            refusals.push(Refused::keep(&attempt.evidence, &[Refused::new("the patch", code, reason)])?);
        }
        // A patch that needs a person's permission is refused until it is granted.
        if checked.problems.is_empty()
            && let Err(refused) = settle(&attempt, vec![("the patch".to_owned(), checked.decision.clone())]).await
            && let interlock_activity::OutcomeKind::Error { data } = &refused.kind
        {
            checked.problems.push(data.get("message").map(ToString::to_string).unwrap_or_default());
            refusals.extend(refused.evidence);
        }
        finish(attempt, checked).await.map(|outcome| outcome.with(refusals))
    }

    fn check(&self, attempt: &Attempt, with: &With) -> Result<Checked, Outcome> {
        let refused = |problems: Vec<String>| Checked { problems, decision: Decision::Allow, risk: None };
        let read = match text::Patch::parse(with.patch.as_bytes()) {
            Ok(read) => read,
            Err(problem) => return Ok(refused(vec![problem.to_string()])),
        };
        let patch = interlock_tools::seen(&read);
        let planned = match with.tree.as_deref().filter(|tree| !tree.is_empty()) {
            Some(tree) => {
                let files = self.workspace.tree_files(&attempt.folder, tree, &read);
                files.map_err(|error| Outcome::error(code::FAILED, error.to_string()))?.plan(&read)
            }
            None => text::plan(&read, &patch::Files(root(&attempt.folder))),
        };
        let mut problems: Vec<String> = match planned {
            Ok(plan) if plan.changes.is_empty() => vec!["the patch changes nothing".to_owned()],
            Ok(plan) => plan.changes.iter().filter_map(syntax_error).collect(),
            Err(problems) => problems.iter().map(|problem| format!("it does not apply: {problem}")).collect(),
        };
        let bad = |why: String| Outcome::error(code::BAD_INPUT, format!("`with.constraints` {why}"));
        let held = &with.constraints;
        let within = within(attempt, &with.repo);
        let (allowed, forbidden) = (from(&within, &held.allowed_paths), from(&within, &held.forbidden_paths));
        let policy = self.policies.of(attempt)?.restricted(&allowed, &forbidden).map_err(bad)?;
        let sight = Sight::of(attempt, None, false).kept();
        let decision = decide(&Request::Patch(patch.clone()), &sight.view(), &policy);
        if let Decision::Deny { reason, .. } = &decision {
            problems.push(reason.clone());
        }
        problems.extend(with.beyond(&patch));
        let evidence = with.evidence_refs.as_ref().map_or(usize::from(!with.diagnostic), Vec::len);
        let risk = risk::score(&patch, risk::Evidence { count: evidence }, &project::risks(attempt)?);
        // These are refused at any risk score.
        for name in ["tests_deleted", "tests_weakened", "dangerous_calls"] {
            let found = risk.factor(name).filter(|factor| factor.value > 0.0);
            problems.extend(found.map(|factor| format!("{}: {}", name.replace('_', " "), factor.found)));
        }
        Ok(Checked { problems, decision, risk: Some(risk) })
    }
}

/// Returns the first syntax error that a patch brings into a file, so that nothing is built to find it.
fn syntax_error(change: &text::Planned) -> Option<String> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    let path = change.path.to_str()?;
    let line = interlock_codemap::new_error(path, &before.content, &after.content)?;
    Some(format!("{path}:{line}: with the patch this is a syntax error"))
}

/// Returns the directory that a run works on, relative to the root of its workspace.
fn within(attempt: &Attempt, repo: &str) -> String {
    let folder = attempt.folder.join(repo).canonicalize().unwrap_or_default();
    let root = root(&attempt.folder).canonicalize().unwrap_or_default();
    folder.strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Makes globs relative to the root: `src/**` refers to the directory that the run works on.
fn from(within: &str, globs: &[String]) -> Vec<String> {
    let is_anywhere = |glob: &String| within.is_empty() || glob.starts_with("**/") || glob.starts_with('/');
    globs.iter().map(|glob| if is_anywhere(glob) { glob.clone() } else { format!("{within}/{glob}") }).collect()
}

impl With {
    /// Returns the reasons why the patch exceeds its constraints.
    fn beyond(&self, patch: &Patch) -> Vec<String> {
        let logging_only = self.diagnostic || self.change_constraint == "logging_only";
        let found = [
            change::beyond_logging(patch).filter(|_| logging_only),
            change::beyond_minimal(patch).filter(|_| self.change_constraint == "minimal_change"),
            change::only_formatting(patch).filter(|_| !self.constraints.allow_formatting),
        ];
        found.into_iter().flatten().collect()
    }
}

async fn finish(attempt: Attempt, checked: Checked) -> Result<Outcome, Outcome> {
    let report = serde_json::json!({ "problems": checked.problems, "risk": checked.risk });
    let store = attempt.evidence.clone();
    let kept =
        tokio::task::spawn_blocking(move || store.put("policy", "application/json", report.to_string().as_bytes()));
    let wrong = |why: String| Outcome::not_stored(format!("the findings could not be stored: {why}"));
    let kept = kept.await.map_err(|error| wrong(error.to_string()))?.map_err(|error| wrong(error.to_string()))?;
    let outcome = match (&checked.problems[..], &checked.risk) {
        ([], Some(risk)) => {
            let data = [("risk_score", Value::Float(risk.score)), ("reasons", Value::from(risk.summary()))];
            VALID.outcome(Value::map(data))
        }
        (problems, _) => {
            let refs = Value::List([Value::from(kept.hash.to_string())].into_iter().collect());
            INVALID.outcome(Value::map([("summary", Value::from(problems.join("; "))), ("evidence_refs", refs)]))
        }
    };
    Ok(outcome.with([kept]))
}
