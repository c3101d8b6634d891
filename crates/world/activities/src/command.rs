//! `command.run`: runs a command in the run's directory.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, OutcomeKind, Requests, Signal, Site, code,
    report::{Account, RunRecord},
    schema,
};
use interlock_beneath::Folder;
use interlock_chart::{Value, catalogue::MEANING, model::Schema};
use interlock_journal::EvidenceStore;
use interlock_policy::{Command, Request};
use interlock_workspace::Workspace;

use interlock_process::{self as program, FIELDS, How, Plan, ProgramResult, Sandbox, Tell};
use interlock_sandbox::Rules;
use interlock_verification::{Becomes, FOREIGN, Question, Room, UNCOMMITTABLE, asked_files};
use serde_json::json;

mod accounted;

use accounted::{account, contradiction};

const KNOWN: [&str; 16] = [
    "command",
    "cwd",
    "folder",
    "env",
    "stdin",
    "timeout_s",
    "output_bytes_max",
    "ok_codes",
    "signals",
    "tree",
    "settle",
    "verify",
    "base",
    "branch",
    "accepted",
    "goal",
];

/// The most bytes kept of each stream if the machine sets no limit.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The longest time of one run of a command that verifies, if the machine sets none.
pub(crate) const VERIFY_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The most characters of the output of a failed command that verifies; the whole output is evidence.
const VERIFY_OUTPUT_CHARS: usize = 16_000;

/// The code of an error: the directory's tree is not the one that was checked before.
const TREE_CHANGED: &str = "TREE_CHANGED";

/// Computes the tree of a directory with the help of a snapshot.
type FromSnapshot = fn(&Workspace, &Path, &str) -> interlock_workspace::Result<String>;

/// Runs a command. Its exit code selects the signal for success or for failure.
#[derive(Clone, Debug)]
pub struct CommandRun {
    workspace: Workspace,
    sandbox: Sandbox,
}

impl CommandRun {
    /// Creates the activity. `workspace` hashes the directory afterwards, and `sandbox` confines the program.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        CommandRun { workspace, sandbox }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = CommandInput::read(&attempt, &self.sandbox)?;
        if let Some(verification) = Verification::read(&attempt)? {
            return self.verify(&attempt, order, verification).await;
        }
        let before = match order.tree.is_some() || order.settles {
            true => self.tree(&attempt, Workspace::tree_named).await,
            false => None,
        };
        if let Some(expected) = order.tree.as_ref().filter(|expected| before.as_ref() != Some(expected)) {
            let found = before.as_deref().unwrap_or("no known tree");
            let message = format!("the directory has the tree {found}, not {expected}, for which the command is meant");
            return Err(Outcome::error(TREE_CHANGED, message));
        }
        let first = self.once(&attempt, &order).await?;
        let is_same = first.tree.is_none() || first.tree == before;
        if !order.settles || is_same {
            return Ok(with_changed(first.outcome, before.as_ref(), first.tree.as_ref()));
        }
        attempt.host.progress(&attempt.run, attempt.activity, "the command changed files; it is run once more");
        let second = self.once(&attempt, &order).await?;
        let outcome = match second.tree == first.tree {
            true => second.outcome,
            false => unsettled(second.outcome, &order),
        };
        Ok(with_changed(outcome, before.as_ref(), second.tree.as_ref()).with(first.outcome.evidence))
    }

    /// Runs the command in the verification room: only there a green end says something about the change.
    async fn verify(
        &self,
        attempt: &Attempt,
        order: CommandInput,
        verification: Verification,
    ) -> Result<Outcome, Outcome> {
        let found = self.tree(attempt, Workspace::tree_named).await.unwrap_or_default();
        let tree = order.tree.unwrap_or_else(|| found.clone());
        if tree != found {
            let message = format!("the directory has the tree {found}, not {tree}, for which the command is meant");
            return Err(Outcome::error(TREE_CHANGED, message));
        }
        let question = Question {
            lines: vec![verification.line],
            base: verification.base.clone(),
            tree: tree.clone(),
            becomes: Becomes::Commit(verification.branch),
            timeout: order.plan.timeout.unwrap_or(VERIFY_TIMEOUT),
            accepted: verification.accepted,
        };
        let (workspace, sandbox) = (&self.workspace, &self.sandbox);
        let room = Room { attempt, workspace, sandbox, rules: order.plan.rules };
        let verdict = room.verify(&question).await?;
        let missing = self.missing(attempt, &verification.goal, &verification.base, &tree).await;
        let mut warnings: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
        warnings.extend((!missing.is_empty()).then_some("not_made"));
        let is_stuck = verdict
            .objections
            .iter()
            .any(|objection| [UNCOMMITTABLE, FOREIGN].iter().any(|beginning| objection.starts_with(beginning)));
        let (zero, nonzero) = &order.signals;
        let (name, exit_code, summary, output) = match (verdict.failed(), verdict.is_verified()) {
            (Some(run), _) => (nonzero, run.exit_code, run.log.summary(), run.log.end(VERIFY_OUTPUT_CHARS)),
            (None, true) => {
                let summary = [missing.join("; "), verdict.summary()];
                (
                    zero,
                    0,
                    summary.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; "),
                    String::new(),
                )
            }
            (None, false) => (&verification.unproved, 0, verdict.objections.join("; "), String::new()),
        };
        let difference = if verdict.objections.is_empty() { String::new() } else { verdict.changed_checks(attempt) };
        let data = json!({
            "exit_code": exit_code,
            "summary": summary,
            "output": output,
            "tree": tree,
            "changed": false,
            "verified": verdict.is_verified(),
            "objections": verdict.objections,
            "warnings": warnings,
            "notes": verdict.notes,
            "shown": verdict.shown,
            "needs_person": is_stuck,
            "difference": difference,
        });
        Ok(PASSED.named(name, Value::from(data)).with(verdict.evidence))
    }

    /// Returns what the request asks for by name and the change does not do.
    async fn missing(&self, attempt: &Attempt, goal: &str, base: &str, tree: &str) -> Vec<String> {
        let asked = asked_files(goal);
        if asked.is_empty() {
            return Vec::new();
        }
        let (workspace, folder) = (self.workspace.clone(), attempt.folder.clone());
        let (base, tree) = (base.to_owned(), tree.to_owned());
        let changes = tokio::task::spawn_blocking(move || workspace.changes_between(&folder, &base, &tree).ok());
        let Some(changes) = changes.await.ok().flatten() else { return Vec::new() };
        let with = |is_there: bool| {
            changes.iter().filter(move |change| change.after.is_some() == is_there).map(|change| change.path.as_path())
        };
        asked.missing(with(true), with(false))
    }

    /// Runs the command once.
    async fn once(&self, attempt: &Attempt, order: &CommandInput) -> Result<Finished, Outcome> {
        let ended = program::run(attempt, &order.plan).await?;
        let stopped = program::not_ended(&ended.how, &order.plan, ended.duration);
        let (outcome, tree) = match (stopped, &ended.how) {
            (None, &How::Exited { code, signal }) => {
                let tree = self.tree(attempt, Workspace::tree_since).await;
                let name = if order.ok_codes.contains(&code) { &order.signals.0 } else { &order.signals.1 };
                (PASSED.named(name, data(&ended, code, signal, tree.clone())), tree)
            }
            (stopped, _) => (stopped.unwrap_or_else(|| Outcome::error(code::FAILED, "it did not end")), None),
        };
        let evidence = program::keep(attempt, vec![ended.stdout, ended.stderr], ended.confined).await?;
        Ok(Finished { outcome: outcome.with(evidence), tree })
    }

    /// Returns the tree hash of the directory, or `None` if it cannot be computed. If the attempt has a snapshot, the
    /// hash is computed from that, because most files are the same.
    async fn tree(&self, attempt: &Attempt, from: FromSnapshot) -> Option<String> {
        let (workspace, folder, snapshot) = (self.workspace.clone(), attempt.folder.clone(), attempt.snapshot.clone());
        let tree = move || match snapshot.and_then(|snapshot| from(&workspace, &folder, &snapshot).ok()) {
            Some(tree) => Some(tree),
            None => workspace.tree(&folder).ok(),
        };
        tokio::task::spawn_blocking(tree).await.ok().flatten()
    }
}

const PASSED: Signal = Signal::new("passed", told);
const FAILED: Signal = Signal::new("failed", told);
const UNPROVED: Signal = Signal::new("unproved", told);

/// The schema of the data of every signal. A verification tells other fields than a plain run, and both have an exit code.
fn told() -> Schema {
    let breach = schema::fields([("rule", schema::text()), ("said", schema::text())]);
    schema::fields([
        ("exit_code", schema::integer()),
        ("signal", schema::or_null("integer")),
        ("duration_ms", schema::integer()),
        ("stdout", schema::text()),
        ("stderr", schema::text()),
        ("summary", schema::text()),
        ("output", schema::text()),
        ("tree", schema::or_null("string")),
        ("truncated", schema::flag()),
        ("breaches", schema::list(breach)),
        ("contradiction", schema::text()),
        ("changed", schema::flag()),
        ("verified", schema::flag()),
        ("objections", schema::list(schema::text())),
        ("warnings", schema::list(schema::text())),
        ("notes", schema::list(schema::text())),
        ("shown", schema::text()),
        ("needs_person", schema::flag()),
        ("difference", schema::text()),
    ])
}

impl Activity for CommandRun {
    fn name(&self) -> &str {
        "command.run"
    }

    fn summary(&self) -> &str {
        "Runs a command in the run's directory; the exit code decides."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[PASSED, FAILED, UNPROVED]
    }

    fn schema(&self) -> Schema {
        let command = json!({
            "anyOf": [{ "type": "string" }, { "type": "array", "items": schema::plain() }],
            MEANING: "command",
        });
        let fields = schema::fields([
            ("command", command),
            ("cwd", schema::text()),
            ("folder", schema::meaning("own-folder")),
            ("env", schema::map(schema::plain())),
            ("stdin", schema::text()),
            ("timeout_s", schema::number()),
            ("output_bytes_max", schema::whole()),
            ("ok_codes", schema::list(json!({ "type": "integer" }))),
            ("signals", schema::fields(["zero", "nonzero", "unproved"].map(|name| (name, schema::plain())))),
            ("tree", schema::text()),
            ("settle", schema::flag()),
            ("verify", schema::flag()),
            ("base", schema::text()),
            ("branch", schema::text()),
            ("accepted", schema::list(schema::plain())),
            ("goal", schema::text()),
        ]);
        schema::needing(schema::also(fields, &program::schema()), &["command"])
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&KNOWN[..], &FIELDS].concat())?;
        let command = command(&given)?;
        let freedoms = self.sandbox.freedoms(&given, site.folder, &command)?;
        let commands = std::iter::once(command).chain(environment(&given.pairs("env")?));
        Ok(commands.map(Request::Command).chain(freedoms).collect())
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}

/// The parsed input of an attempt.
struct CommandInput {
    plan: Plan,
    ok_codes: Vec<i64>,
    /// The signals for success and failure.
    signals: (String, String),
    /// The tree hash that the directory must have.
    tree: Option<String>,
    /// True if the command runs once more if it changed files, because its verdict is about the files before the change.
    settles: bool,
}

/// The input of the verification room besides the command.
struct Verification {
    line: String,
    base: String,
    branch: Option<String>,
    accepted: Vec<String>,
    /// The request; the files that it asks for by name must be made.
    goal: String,
    /// The signal for a green end that proves nothing.
    unproved: String,
}

impl Verification {
    /// Returns `None` if the machine does not ask for a verification.
    fn read(attempt: &Attempt) -> Result<Option<Self>, Outcome> {
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        if given.value("verify") != Some(&Value::Bool(true)) {
            return Ok(None);
        }
        let Some(Value::Str(line)) = given.value("command") else {
            return Err(BadArgument::field("command", "must be a string if `verify` is true").into());
        };
        let unproved = given.pairs("signals")?.get("unproved").cloned().unwrap_or_else(|| UNPROVED.name.to_owned());
        Ok(Some(Verification {
            line: line.to_string(),
            base: given.need_text("base")?.to_owned(),
            branch: given.text("branch")?.map(str::to_owned),
            accepted: given.texts("accepted")?.unwrap_or_default(),
            goal: given.text("goal")?.unwrap_or_default().to_owned(),
            unproved,
        }))
    }
}

/// One execution of the command.
struct Finished {
    outcome: Outcome,
    /// The tree hash afterwards.
    tree: Option<String>,
}

impl CommandInput {
    fn read(attempt: &Attempt, sandbox: &Sandbox) -> Result<Self, Outcome> {
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let own = own_folder(&given, attempt)?;
        let folder = match (&own, given.text("cwd")?) {
            (Some(own), None) => own.clone(),
            _ => given.folder("cwd", &attempt.folder)?,
        };
        let env = given.pairs("env")?;
        if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(BadArgument::field("env", format!("has an invalid variable name: `{name}`")).into());
        }
        let mut plan = Plan {
            words: Vec::new(),
            folder,
            env,
            stdin: given.text("stdin")?.unwrap_or_default().into(),
            timeout: given.seconds("timeout_s")?,
            output_bytes_max: given.whole("output_bytes_max")?.unwrap_or(OUTPUT_BYTES),
            tell: [Tell::NowAndThen; 2],
            rules: confined(sandbox.rules(&given, attempt)?, own, attempt.invocation.is_declared_read),
            launcher: sandbox.launcher.clone(),
        };
        let ok_codes = given.numbers("ok_codes")?.unwrap_or_else(|| vec![0]);
        let names = given.pairs("signals")?;
        if let Some(name) = names.keys().find(|name| !["zero", "nonzero", "unproved"].contains(&name.as_str())) {
            let why = format!("has `{name}`; the keys are zero, nonzero and unproved");
            return Err(BadArgument::field("signals", why).into());
        }
        let name = |of: &str, otherwise: &str| names.get(of).cloned().unwrap_or_else(|| otherwise.to_owned());
        let tree = given.text("tree")?.map(str::to_owned);
        let settles = given.value("settle") == Some(&Value::Bool(true));
        plan.words = words(&given, &plan)?;
        Ok(CommandInput {
            plan,
            ok_codes,
            signals: (name("zero", PASSED.name), name("nonzero", FAILED.name)),
            tree,
            settles,
        })
    }
}

/// Returns the only directory that the command may write, and creates it if it is missing. Refuses every field that
/// would let the command write elsewhere.
fn own_folder(given: &Arguments<'_>, attempt: &Attempt) -> Result<Option<PathBuf>, Outcome> {
    let Some(path) = given.text("folder")? else { return Ok(None) };
    if given.value("write").is_some() || given.text("sandbox")? == Some("none") {
        return Err(BadArgument::field(
            "folder",
            "is the only writable directory, so `write` and `sandbox: none` cannot be given",
        )
        .into());
    }
    let wrong = |why: String| Outcome::from(BadArgument::field("folder", why));
    let root = &attempt.folder;
    let mut folder = root.clone();
    for part in Path::new(path).components().filter(|part| *part != Component::CurDir) {
        let Component::Normal(name) = part else { return Err(wrong("is outside the run's directory".to_owned())) };
        // The sandbox protects hooks, settings and CI files by their path in the workspace. A hidden directory as the
        // program's workspace would bypass that, so it is refused.
        if name.as_encoded_bytes().starts_with(b".") {
            return Err(wrong("is hidden; name one that does not begin with a dot".to_owned()));
        }
        folder.push(name);
    }
    // A program may have prepared the workspace, so links are not followed.
    let below = folder.strip_prefix(root).unwrap_or(&folder);
    let made = Folder::open(root).and_then(|root| root.make_folders(below));
    made.map_err(|error| wrong(format!("cannot be used: {error}")))?;
    match folder == *root {
        true => Err(wrong("is the run's directory itself; name one inside it".to_owned())),
        false => Ok(Some(folder)),
    }
}

/// Restricts the rules so that the command may write only that directory of the workspace, or nothing in it if the machine
/// says so. The program does not start
/// if this cannot be enforced.
fn confined(rules: Rules, own: Option<PathBuf>, is_read: bool) -> Rules {
    let Some(own) = own else { return Rules { keeps_workspace: is_read, ..rules } };
    let write = rules.write.iter().filter(|place| !place.starts_with(&rules.workspace)).cloned().collect();
    Rules { workspace: own, write, required: true, ..rules }
}

/// Returns the command: a string is for the shell; a list is a program and its arguments.
fn command(given: &Arguments<'_>) -> Result<Command, BadArgument> {
    let wrong = |why: &str| Err(BadArgument::field("command", why));
    match given.value("command") {
        None => wrong("is missing"),
        Some(Value::Str(text)) if text.trim().is_empty() => wrong("is empty"),
        Some(Value::Str(text)) => Ok(Command::Shell(text.to_string())),
        Some(Value::List(words)) if words.is_empty() => wrong("is empty"),
        Some(Value::List(_)) => Ok(Command::Words(given.texts("command")?.unwrap_or_default())),
        Some(other) => wrong(&format!("must be a string or a list, not a {}", other.kind())),
    }
}

/// Returns the command that would set the variables that are given to a command, if there are any.
fn environment(env: &BTreeMap<String, String>) -> Option<Command> {
    let sets = env.iter().map(|(name, value)| format!("{name}={value}"));
    let words = std::iter::once("env".to_owned()).chain(sets).chain(["true".to_owned()]).collect();
    (!env.is_empty()).then_some(Command::Words(words))
}

/// Returns the words of the command as a process gets them.
fn words(given: &Arguments<'_>, plan: &Plan) -> Result<Vec<OsString>, Outcome> {
    let words = match command(given)? {
        Command::Shell(text) => return Ok(["/bin/sh", "-c", &text].map(OsString::from).into()),
        Command::Words(words) => words,
    };
    let not_started = |why| Outcome::error(code::FAILED, format!("it could not be started: {why}"));
    let name = words.first().map(String::as_str).unwrap_or_default();
    let program = program::find(name, &plan.folder, &plan.env).map_err(not_started)?;
    Ok(std::iter::once(program.into()).chain(words.into_iter().skip(1).map(OsString::from)).collect())
}

/// Adds to the data of a signal whether the command changed the workspace, if both trees were measured.
fn with_changed(mut outcome: Outcome, before: Option<&String>, after: Option<&String>) -> Outcome {
    if let (OutcomeKind::Signal { data, .. }, Some(before), Some(after)) = (&mut outcome.kind, before, after) {
        let mut fields = serde_json::Value::from(&*data);
        fields["changed"] = json!(before != after);
        *data = Value::from(fields);
    }
    outcome
}

/// Turns the second outcome of a command that changes files every time into a failure: no verdict of it counts.
fn unsettled(outcome: Outcome, order: &CommandInput) -> Outcome {
    let OutcomeKind::Signal { data, .. } = &outcome.kind else { return outcome };
    let mut data = serde_json::Value::from(data);
    let why = "the command changed files both times it ran, so its verdict does not count";
    data["output"] = json!(format!("{why}\n{}", data["output"].as_str().unwrap_or_default()));
    data["summary"] = json!(why);
    let name = order.signals.1.clone();
    Outcome { kind: OutcomeKind::Signal { name, data: Value::from(data) }, evidence: outcome.evidence }
}

fn data(ended: &ProgramResult, code: i64, signal: Option<i64>, tree: Option<String>) -> Value {
    let contradiction = contradiction(code, &output(ended));
    let summary = match &contradiction {
        Some(found) => format!("exit code 0, but {found}"),
        None => ended.shown.last_line().unwrap_or_else(|| format!("exit code {code}")),
    };
    let more = contradiction.map(|found| ("contradiction", Value::from(found)));
    let fields = [
        ("exit_code", Value::Int(code)),
        ("signal", signal.map_or(Value::Null, Value::Int)),
        ("duration_ms", Value::Int(milliseconds(ended.duration))),
        ("stdout", Value::from(ended.stdout.tail.text())),
        ("stderr", Value::from(ended.stderr.tail.text())),
        ("summary", Value::from(summary)),
        ("output", Value::from(output(ended))),
        ("tree", tree.map_or(Value::Null, Value::from)),
        ("truncated", Value::Bool(ended.stdout.is_truncated || ended.stderr.is_truncated)),
        ("breaches", breaches(ended)),
    ];
    Value::map(fields.into_iter().chain(more))
}

/// Returns the end of both streams as one text: standard output first.
fn output(ended: &ProgramResult) -> String {
    let streams = [ended.stdout.tail.text(), ended.stderr.tail.text()];
    let said: Vec<&str> = streams.iter().map(|text| text.trim_end()).filter(|text| !text.is_empty()).collect();
    said.join("\n")
}

/// Lists the rules that the program violated.
fn breaches(ended: &ProgramResult) -> Value {
    let breaches = ended.confined.ended.breaches.iter();
    let breaches = breaches.map(|breach| {
        Value::map([("rule", Value::from(breach.rule.as_str())), ("said", Value::from(breach.said.as_str()))])
    });
    Value::List(breaches.collect())
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
