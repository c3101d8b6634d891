//! The gate: programs and requests start only after policy has allowed them, or a person has.

use std::{path::Path, sync::Arc};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, RunView, StandIn, StandInQuestion, UseGrants,
    refused::Refused,
    report::{Account, RecordedRun, RunRecord, Story, reading::text},
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::EvidenceStore;
use interlock_policy::{Command, Decision, Freedom, PathOp, Request, Scope, decide};
use interlock_process::Allow;
use interlock_sandbox::{Config, Kind, Network, is_protected};
use interlock_workspace::patch::Patch;

use super::{
    CONFIRMATION_NEEDED, POLICY_DENIED, blocking,
    granted::Granted,
    project::{Policies, root},
    sight::Sight,
};
use crate::http;

/// Asks policy before an activity starts.
#[derive(Clone, Debug)]
pub struct Gate {
    pub(super) policies: Policies,
    /// The user's settings, which give programs some freedoms in advance.
    pub(super) settings: Config,
}

/// An activity behind the gate.
#[derive(Clone, Debug)]
pub struct Guarded<A> {
    activity: Arc<A>,
    gate: Gate,
}

impl Gate {
    /// Creates a gate with hosts that the user of the runtime has allowed, besides those that a policy allows.
    pub fn new(allowed_hosts: Vec<String>) -> Self {
        Gate { policies: Policies::new(allowed_hosts), settings: Config::default() }
    }

    /// Sets the freedoms that the user's settings already give programs: a machine that asks for the same needs no
    /// permission.
    #[must_use]
    pub fn with_settings(self, settings: Config) -> Self {
        Gate { settings, ..self }
    }

    /// Sets Interlock's directory, which keeps the grants of workspaces.
    #[must_use]
    pub fn with_home(self, home: Option<&Path>) -> Self {
        Gate { policies: self.policies.with_home(home), ..self }
    }

    /// Puts an activity behind the gate.
    pub fn guard<A: Activity>(&self, activity: A) -> Guarded<A> {
        Guarded { activity: Arc::new(activity), gate: self.clone() }
    }

    /// Allows an attempt to connect to a host, or returns its outcome.
    pub async fn connect(&self, attempt: &Attempt, host: String, port: u16) -> Result<(), Outcome> {
        self.allow(attempt, vec![Request::Connect { host, port: Some(port) }]).await
    }

    /// Allows an attempt to start, or returns its outcome.
    async fn admit(&self, name: &str, attempt: &Attempt) -> Result<(), Outcome> {
        self.allow(attempt, requests(name, &Asking::of(attempt), &self.settings)).await
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

/// The arguments of an activity and the directory that it works in: all that the requests of an attempt follow from.
pub(super) struct Asking<'a> {
    pub(super) with: &'a Value,
    pub(super) folder: &'a Path,
}

impl<'a> Asking<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        Asking { with: &attempt.with, folder: &attempt.folder }
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

/// Returns the requests that an activity is about to make. If the input is invalid, the activity reports that itself,
/// so nothing is requested.
pub(super) fn requests(name: &str, attempt: &Asking<'_>, settings: &Config) -> Vec<Request> {
    let with = attempt.with;
    let text = |name: &str| with.get(name).and_then(Value::as_str);
    let texts = |name: &str| match with.get(name) {
        Some(Value::List(items)) => items.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    match name {
        "command.run" => {
            let command = match with.get("command") {
                Some(Value::Str(text)) => Some(Command::Shell(text.to_string())),
                Some(Value::List(_)) => Some(Command::Words(texts("command"))),
                _ => None,
            };
            let freedoms = command.as_ref().map(|command| freedoms(attempt, command, settings)).unwrap_or_default();
            let commands = command.into_iter().chain(environment(with.get("env"))).map(Request::Command);
            commands.chain(freedoms).collect()
        }
        "project.verify" | "verify.run" => {
            let lines = if name == "verify.run" { turn_lines(attempt) } else { verify_lines(with) };
            let commands: Vec<Command> = lines.into_iter().map(Command::Shell).collect();
            let freedoms: Vec<Request> =
                commands.first().map(|command| freedoms(attempt, command, settings)).unwrap_or_default();
            commands.into_iter().map(Request::Command).chain(freedoms).collect()
        }
        "external" => {
            let Some(program) = text("program") else { return Vec::new() };
            let command = Command::Words(std::iter::once(program.to_owned()).chain(texts("args")).collect());
            let freedoms = freedoms(attempt, &command, settings);
            std::iter::once(Request::Command(command)).chain(freedoms).collect()
        }
        // The code of cells is not judged: the sandbox confines it. A machine that relaxes the sandbox needs permission.
        "notebook.action" => {
            let kernel = text("kernel").unwrap_or("python3").to_owned();
            freedoms(attempt, &Command::Words(vec!["jupyter".to_owned(), "kernel".to_owned(), kernel]), settings)
        }
        "http.request" => {
            let asked = text("url").and_then(http::asked);
            asked.into_iter().map(|(host, port)| Request::Connect { host, port: Some(port) }).collect()
        }
        "workspace.apply" => text("patch").map(|patch| protected(attempt, patch)).unwrap_or_default(),
        "tool.call" => with.get("call").map(|call| called(attempt, call, settings)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Returns the command lines of `project.verify`: those of the project and those of the task.
fn verify_lines(with: &Value) -> Vec<String> {
    let items = |list: Option<&Value>| match list {
        Some(Value::List(items)) => items.to_vec(),
        _ => Vec::new(),
    };
    let of_project = items(with.get("commands")).into_iter().filter_map(|item| item.get("command").cloned());
    let of_task = items(with.get("task").and_then(|task| task.get("commands")));
    of_project.chain(of_task).filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

/// Returns the command lines of `verify.run`: those of the project, before the turn and now, and those of the plan.
fn turn_lines(attempt: &Asking<'_>) -> Vec<String> {
    let with = attempt.with;
    let of_plan = with.get("plan").and_then(|plan| plan.get("verification")?.get("commands"));
    let of_plan = of_plan.map(|lines| Value::map([("task", Value::map([("commands", lines.clone())]))]));
    let now = interlock_project::detect(attempt.folder).commands.into_iter().map(|found| found.command);
    let mut lines: Vec<String> = verify_lines(with).into_iter().chain(now).collect();
    lines.extend(of_plan.map(|plan| verify_lines(&plan)).unwrap_or_default());
    lines
}

/// Returns the requests of a tool call. `policy.call` decides on a call before; here, only commands and protected files
/// are asked about once more. Several calls at once only read, so they request nothing.
fn called(attempt: &Asking<'_>, call: &Value, settings: &Config) -> Vec<Request> {
    let arg = |name: &str| call.get("args").and_then(|args| args.get(name)).and_then(Value::as_str);
    match (call.get("name").and_then(Value::as_str), arg("command"), arg("patch"), arg("path")) {
        (Some("run_terminal_cmd"), Some(command), ..) => {
            let command = Command::Shell(command.to_owned());
            let freedoms = freedoms(attempt, &command, settings);
            std::iter::once(Request::Command(command)).chain(freedoms).collect()
        }
        (Some("apply_patch"), _, Some(patch), _) => protected(attempt, patch),
        (Some("write_file"), .., Some(path)) => protected_path(attempt, path, PathOp::Write),
        (Some("delete_file"), .., Some(path)) => protected_path(attempt, path, PathOp::Delete),
        _ => Vec::new(),
    }
}

/// Returns the request for a path of the workspace if it decides which programs run outside of the sandbox.
fn protected_path(attempt: &Asking<'_>, path: &str, op: PathOp) -> Vec<Request> {
    let top = root(attempt.folder);
    let path = top.join(path);
    match is_protected(path.strip_prefix(&top).unwrap_or(&path)) {
        true => vec![Request::Path { op, path: path.to_string_lossy().into_owned() }],
        false => Vec::new(),
    }
}

/// Returns requests for the files in a patch that decide which programs run outside of the sandbox. Other files are
/// covered by `policy.check`, if the machine uses it.
fn protected(attempt: &Asking<'_>, patch: &str) -> Vec<Request> {
    let Ok(patch) = Patch::parse(patch.as_bytes()) else { return Vec::new() };
    let top = root(attempt.folder);
    let folder = attempt.folder.canonicalize().unwrap_or_else(|_| attempt.folder.to_path_buf());
    let mut requests = Vec::new();
    for file in &patch.files {
        let is_gone = file.new.is_none() || file.is_rename();
        let changes = [(file.old.as_ref().filter(|_| is_gone), PathOp::Delete), (file.new.as_ref(), PathOp::Write)];
        for (path, op) in changes.into_iter().filter_map(|(path, op)| Some((folder.join(path?), op))) {
            let inside = path.strip_prefix(&top).unwrap_or(&path);
            if is_protected(inside) {
                requests.push(Request::Path { op, path: path.to_string_lossy().into_owned() });
            }
        }
    }
    requests
}

/// Returns requests for the ways in which a machine relaxes the sandbox: writes outside of the workspace, the network,
/// no sandbox at all.
fn freedoms(attempt: &Asking<'_>, command: &Command, settings: &Config) -> Vec<Request> {
    let with = attempt.with;
    let said = |name: &str| with.get(name).and_then(Value::as_str);
    let command = match command {
        Command::Shell(text) => text.clone(),
        Command::Words(words) => words.join(" "),
    };
    let mut requests = Vec::new();
    if let Some(Value::List(places)) = with.get("write") {
        let places = places.iter().filter_map(Value::as_str);
        let is_new = |place: &&str| !settings.write.iter().any(|known| known.as_os_str() == *place);
        // Policy resolves paths from the root of the workspace, the sandbox from the directory of the run.
        let absolute = |place: &str| match place.starts_with('~') {
            true => place.to_owned(),
            false => attempt.folder.join(place).to_string_lossy().into_owned(),
        };
        let path = |place: &str| Request::Path { op: PathOp::WriteBelow, path: absolute(place) };
        requests.extend(places.filter(is_new).map(path));
    }
    if said("network").and_then(Network::named) == Some(Network::On) && settings.network != Network::On {
        requests.push(Request::Unconfined { freedom: Freedom::AnyHost, command: command.clone() });
    }
    requests.extend(hosts(with, settings));
    if said("sandbox").and_then(Kind::named) == Some(Kind::None) && settings.sandbox != Kind::None {
        requests.push(Request::Unconfined { freedom: Freedom::NoSandbox, command });
    }
    requests
}

/// Returns requests for the hosts that a program may reach with `network: only`, except those that the settings list.
fn hosts(with: &Value, settings: &Config) -> Vec<Request> {
    let is_only = with.get("network").and_then(Value::as_str).and_then(Network::named) == Some(Network::Only);
    let Some(Value::List(listed)) = with.get("hosts").filter(|_| is_only && settings.network != Network::On) else {
        return Vec::new();
    };
    let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
    let known = Allow::parse(&settings.hosts).unwrap_or_default();
    let known: Vec<_> = known.hosts().collect();
    let listed = Allow::parse(&listed).unwrap_or_default();
    let new = listed.hosts().filter(|host| !known.contains(host));
    new.map(|(host, port)| Request::Connect { host, port: Some(port) }).collect()
}

/// Returns the command that would set the variables that are given to a command.
fn environment(env: Option<&Value>) -> Option<Command> {
    let Some(Value::Map(fields)) = env else { return None };
    let sets = fields.iter().map(|(name, value)| format!("{name}={value}"));
    Some(Command::Words(std::iter::once("env".to_owned()).chain(sets).chain(["true".to_owned()]).collect()))
}

pub(super) fn uses_git(request: &Request) -> bool {
    match request {
        Request::Command(Command::Shell(text)) => text.contains("git"),
        Request::Command(Command::Words(words)) => words.iter().any(|word| word.contains("git")),
        Request::Git(_) => true,
        _ => false,
    }
}

impl<A: Activity> Activity for Guarded<A> {
    fn name(&self) -> &str {
        self.activity.name()
    }

    fn summary(&self) -> &str {
        self.activity.summary()
    }

    fn effect(&self) -> EffectClass {
        self.activity.effect()
    }

    fn signals(&self) -> &[&str] {
        self.activity.signals()
    }

    fn schema(&self) -> Schema {
        self.activity.schema()
    }

    fn waits(&self) -> bool {
        self.activity.waits()
    }

    fn uses_cores(&self) -> bool {
        self.activity.uses_cores()
    }

    fn also_writes(&self) -> bool {
        self.activity.also_writes()
    }

    fn takes(&self, name: &str, folder: &Path) -> bool {
        self.activity.takes(name, folder)
    }

    fn not_taken_because(&self) -> &str {
        self.activity.not_taken_because()
    }

    fn asked(&self, of: &StandIn<'_>) -> Option<StandInQuestion> {
        self.activity.asked(of)
    }

    fn misfits(&self, of: &StandIn<'_>, signal: &str, data: &Value) -> Vec<String> {
        self.activity.misfits(of, signal, data)
    }

    fn objections(&self, input: &Value, folder: &Path) -> Vec<String> {
        self.activity.objections(input, folder)
    }

    fn get_ready(&self) {
        self.activity.get_ready();
    }

    fn run_ended(&self, run: &str) {
        self.activity.run_ended(run);
    }

    fn stays_in_process(&self) -> bool {
        self.activity.stays_in_process()
    }

    fn run_released(&self, run: &str) {
        self.activity.run_released(run);
    }

    fn story(&self, run: &RecordedRun) -> Option<Story> {
        self.activity.story(run)
    }

    fn account(&self, record: &RunRecord, evidence: &EvidenceStore) -> Option<Account> {
        // An attempt that was not admitted has executed nothing.
        let code = record.ended().filter(|ended| ended.signal.is_none()).map(|ended| text(&ended.data["code"]));
        match code.as_deref() {
            Some(POLICY_DENIED | CONFIRMATION_NEEDED) => Some(Account::default()),
            _ => self.activity.account(record, evidence),
        }
    }

    fn view(&self) -> Option<Arc<dyn RunView>> {
        self.activity.view()
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let Guarded { activity, gate } = self.clone_parts();
        Box::pin(async move {
            match gate.admit(activity.name(), &attempt).await {
                Ok(()) => activity.start(attempt).await,
                Err(outcome) => outcome,
            }
        })
    }
}

impl<A> Guarded<A> {
    fn clone_parts(&self) -> Self {
        Guarded { activity: Arc::clone(&self.activity), gate: self.gate.clone() }
    }
}
