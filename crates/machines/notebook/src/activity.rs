//! The activity `notebook.action`: carries out one action of a behavior in the notebook of a run.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, OutcomeKind, Requests, Schema, Signal,
    Site,
    report::{
        Account, EndedAttempt, ExecutedCommand, RecordedRun, RunRecord, Story,
        reading::{text, words},
    },
    schema,
};
use interlock_chart::{Value, counted};
use interlock_journal::EvidenceStore;
use interlock_policy::Command;
use interlock_process::{FIELDS, Sandbox, schema as confinement};
use interlock_sandbox::Rules;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::{
    action::{
        Action,
        edit::{self, problem},
        execute::{self, Cell, Executed},
    },
    document::{Document, Mark},
    kernel,
    recorded::Recorded,
    saved::{self, Saved},
    sessions::{IDLE_MAX, Opened, Session, Sessions, open},
    story,
    written::Written,
};

/// The fields of `with`, besides those of the sandbox.
const OWN: [&str; 12] = [
    "actions",
    "index",
    "notebook",
    "kernel",
    "cell_timeout_s",
    "on_kernel_lost",
    "stage_id",
    "step_id",
    "behavior_iteration",
    "after_failure",
    "variables",
    "document",
];

/// The kernel of a machine that names none.
const KERNEL: &str = "python3";

/// The time limit of a cell, unless the machine sets another one.
const CELL_TIMEOUT: Duration = Duration::from_secs(300);

/// Carries out actions in notebooks. Kernels are held here, one for each run.
#[derive(Clone, Debug)]
pub struct NotebookAction {
    sandbox: Sandbox,
    sessions: Arc<Sessions>,
}

impl NotebookAction {
    /// Creates the activity. Kernels are confined by these rules.
    pub fn new(sandbox: Sandbox) -> Self {
        NotebookAction { sandbox, sessions: Arc::new(Sessions::new(IDLE_MAX)) }
    }

    /// Ends kernels that were not used for this time. The default is 12 hours.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        NotebookAction { sessions: Arc::new(Sessions::new(idle)), ..self }
    }

    /// Returns true if a kernel of this run lives in this process.
    pub fn has_kernel(&self, run: &str) -> bool {
        self.sessions.has_kernel(run)
    }
}

impl Activity for NotebookAction {
    fn name(&self) -> &str {
        "notebook.action"
    }

    fn summary(&self) -> &str {
        "Carries out one action in a notebook: adds a cell, executes one in a Jupyter kernel, writes a heading"
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("executed")] }
    }

    fn schema(&self) -> Schema {
        let own = schema::fields([
            ("actions", schema::list(schema::object())),
            ("index", schema::whole()),
            ("notebook", schema::text()),
            ("kernel", schema::text()),
            ("cell_timeout_s", schema::number()),
            ("on_kernel_lost", schema::one_of(&["ask", "rerun"])),
            ("stage_id", schema::text()),
            ("step_id", schema::text()),
            ("behavior_iteration", schema::whole()),
            ("after_failure", schema::flag()),
            ("variables", schema::object()),
            ("document", schema::object()),
        ]);
        schema::needing(schema::also(own, &confinement()), &["actions"])
    }

    /// The code of cells is not judged: the sandbox confines it. A machine that relaxes the sandbox needs permission.
    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&OWN[..], &FIELDS].concat())?;
        let kernel = given.text("kernel")?.unwrap_or(KERNEL);
        let command = Command::Words(["jupyter", "kernel", kernel].map(str::to_owned).into());
        Ok(self.sandbox.freedoms(&given, site.folder, &command)?)
    }

    fn story(&self, run: &RecordedRun) -> Option<Story> {
        story::tell(run)
    }

    /// The cell that it executed. It verifies nothing: the notebook's own answer is what counts.
    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        let code = |ended: &EndedAttempt| {
            let at = usize::try_from(ended.with["index"].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
            let action = &ended.with["actions"][at];
            words(&action["codecell_id"]).or_else(|| words(&action["action"]))
        };
        let commands = record.ended().and_then(|ended| {
            let duration_ms = ended.data["programs_ms"].as_u64().filter(|ms| *ms > 0)?;
            let has_passed = ended.signal.is_some() && ended.data["failed"] != true;
            let message = text(&ended.data["summary"]);
            let command = format!("cell {}", code(&ended).unwrap_or_else(|| text(&ended.data["last_cell"])));
            Some(ExecutedCommand {
                command,
                has_passed,
                duration_ms: Some(duration_ms),
                message,
                ..ExecutedCommand::default()
            })
        });
        Some(Account { commands: commands.into_iter().collect(), ..Account::default() })
    }

    fn run_ended(&self, run: &str) {
        self.sessions.end(run);
    }

    fn stays_in_process(&self) -> bool {
        true
    }

    /// Ends the kernel, because another process continues the run with its own.
    fn run_released(&self, run: &str) {
        self.sessions.end(run);
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let (sandbox, sessions) = (self.sandbox.clone(), self.sessions.clone());
        Box::pin(async move {
            let request = match Request::read(&attempt, &sandbox) {
                Ok(request) => request,
                Err(outcome) => return outcome,
            };
            let mut session = sessions.of(&attempt.run).await;
            let work = Work { attempt: &attempt, sandbox: &sandbox, sessions: &sessions, request };
            work.carry_out(&mut session).await.unwrap_or_else(|outcome| outcome)
        })
    }
}

/// The data of an attempt.
#[derive(Debug)]
struct Request {
    action: Action,
    more: bool,
    /// The directory that the notebook is in, and its path below it.
    folder: PathBuf,
    path: PathBuf,
    kernel: String,
    limit: Duration,
    reruns: bool,
    /// True if a behavior failed before this action: the cells that it has not executed are removed.
    after_failure: bool,
    rules: Rules,
    mark: Mark,
    variables: Json,
    /// The notebook as the run's records describe it.
    recorded: Option<Recorded>,
    /// The cells that the run has written or executed.
    written: Written,
}

impl Request {
    fn read(attempt: &Attempt, sandbox: &Sandbox) -> Result<Self, Outcome> {
        let known: Vec<_> = OWN.into_iter().chain(FIELDS).collect();
        let given = Arguments::new(&attempt.with, &known)?;
        let index = given.whole("index")?.unwrap_or(0);
        let (action, more) = action(&given, index)?;
        let on_kernel_lost = given.text("on_kernel_lost")?.unwrap_or("ask");
        if !["ask", "rerun"].contains(&on_kernel_lost) {
            return Err(BadArgument::field("on_kernel_lost", "must be `ask` or `rerun`").into());
        }
        let text = |name| given.text(name).map(|text| text.unwrap_or_default().to_owned());
        let document = given.value("document").map(Json::from).unwrap_or_default();
        Ok(Request {
            action,
            more,
            folder: attempt.folder.clone(),
            path: path(&given, attempt)?,
            kernel: given.text("kernel")?.filter(|name| !name.is_empty()).unwrap_or(KERNEL).to_owned(),
            limit: given.seconds("cell_timeout_s")?.unwrap_or(CELL_TIMEOUT),
            reruns: on_kernel_lost == "rerun",
            after_failure: given.value("after_failure") == Some(&Value::Bool(true)),
            rules: sandbox.rules(&given, attempt)?,
            mark: Mark {
                run: attempt.run.to_string(),
                stage_id: text("stage_id")?,
                step_id: text("step_id")?,
                behavior: given.whole("behavior_iteration")?.unwrap_or(0),
                ..Mark::default()
            },
            variables: given.value("variables").map_or_else(|| json!({}), Json::from),
            recorded: Recorded::read(&document),
            written: Written::read(&document),
        })
    }
}

fn action(given: &Arguments<'_>, index: u64) -> Result<(Action, bool), Outcome> {
    let bad = |why: String| Outcome::error(problem::BAD_ACTION, why);
    let Some(Value::List(actions)) = given.value("actions") else {
        return Err(BadArgument::field("actions", "must be a list of actions").into());
    };
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    let missing = || bad(format!("the queue has {} actions, so there is no action {}", actions.len(), index + 1));
    let value = Json::from(actions.get(at).ok_or_else(missing)?);
    let action =
        Action::read(&value).map_err(|why| bad(format!("action {} cannot be carried out: {why}", index + 1)))?;
    Ok((action, at + 1 < actions.len()))
}

/// Returns the path of the notebook below the run's directory. Without a name, the notebook is named after the run.
fn path(given: &Arguments<'_>, attempt: &Attempt) -> Result<PathBuf, Outcome> {
    let named = given.text("notebook")?.filter(|name| !name.is_empty());
    let path = named.map_or_else(|| PathBuf::from(format!("{}.ipynb", attempt.run)), PathBuf::from);
    let path = path.strip_prefix(&attempt.folder).map(Path::to_owned).unwrap_or(path);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let is_notebook = path.extension().is_some_and(|end| end == "ipynb");
    match (is_inside, is_notebook) {
        (false, _) => Err(BadArgument::field("notebook", "must be a path in the run's directory").into()),
        (_, false) => Err(BadArgument::field("notebook", "must end in `.ipynb`").into()),
        _ => Ok(path.components().collect()),
    }
}

/// One attempt at work.
struct Work<'a> {
    attempt: &'a Attempt,
    sandbox: &'a Sandbox,
    sessions: &'a Sessions,
    request: Request,
}

/// The parts of the signal's data that differ between actions.
#[derive(Default)]
struct Said {
    summary: String,
    effects: Vec<String>,
    cell: Option<String>,
    evidence: Vec<interlock_journal::Evidence>,
    is_failed: bool,
    /// The time that the kernel took to start and to execute.
    kernel_time: Duration,
}

impl Said {
    /// Adds the notices about edits that were made during the action.
    fn take(&mut self, notices: Vec<String>, renamed: &[(String, String)]) {
        self.effects.extend(notices);
        if let Some((old, new)) = renamed.iter().find(|(old, _)| self.cell.as_ref() == Some(old)) {
            self.summary = self.summary.replace(old.as_str(), new);
            self.cell = Some(new.clone());
        }
    }
}

impl Work<'_> {
    async fn carry_out(&self, session: &mut Session) -> Result<Outcome, Outcome> {
        if let Some(kernel) = &session.kernel {
            kernel.works_for(self.attempt);
        }
        if self.request.action == Action::ClearThinking && !self.is_file() {
            let said = Said { summary: "there is no notebook yet".to_owned(), ..Said::default() };
            return Ok(self.executed(session, said, None));
        }
        let Opened { mut document, notice, is_file } = self.open(session).await?;
        let notice = notice.or_else(|| session.notice.take());
        let before = is_file.then(|| document.text().len());
        let unchanged = document.clone();
        let mut said = Said { effects: notice.iter().cloned().collect(), ..Said::default() };
        // A behavior can begin with the execution of a cell that the failed one has added.
        let left_over = match self.request.after_failure && !matches!(self.request.action, Action::Exec { .. }) {
            true => edit::clear_unfinished(&mut document, &self.request.mark),
            false => 0,
        };
        let failure = match &self.request.action {
            Action::Exec { cell, needs_output } => {
                self.execute(session, &mut document, cell, *needs_output, &mut said).await
            }
            action => self.edit(session, &mut document, action, &mut said).await,
        };
        let failure = match failure {
            Ok(failure) => failure,
            Err(outcome) => {
                session.document = is_file.then(|| (self.request.path.clone(), unchanged));
                session.notice = notice;
                return Err(outcome);
            }
        };
        let is_changed = before != Some(document.text().len()) || document.text() != unchanged.text();
        let mut is_edited = notice.is_some();
        if is_changed {
            let saved = self.save(unchanged, is_file, document).await.map_err(|why| why.with(said.evidence.clone()))?;
            is_edited |= !saved.notices.is_empty();
            said.take(saved.notices, &saved.renamed);
            document = saved.document;
        }
        let notebook = self.described(&document, &said, failure.is_none());
        session.document = Some((self.request.path.clone(), document));
        if left_over > 0 {
            let cells = counted(left_over as u64, "cell", "cells");
            said.summary.push_str(&format!("; removed {cells} that the failed behavior had left unfinished"));
        }
        if is_edited {
            said.summary.push_str("; the notebook was edited outside of this run");
        }
        match failure {
            Some(failure) => Ok(with_notebook(failure, notebook, said.effects).with(said.evidence)),
            None => Ok(self.executed(session, said, Some(notebook))),
        }
    }

    /// Describes the notebook for the records of the run, with the cells that it wrote or executed. A note about thinking
    /// is no result, and neither is the cell of an execution that failed or did not end.
    fn described(&self, document: &Document, said: &Said, is_done: bool) -> Json {
        let mut written = self.request.written.clone();
        let is_thinking = matches!(self.request.action, Action::IsThinking { .. } | Action::SetEffectAsThinking { .. });
        if let Some(cell) = said.cell.as_ref().filter(|_| is_done && !said.is_failed && !is_thinking) {
            written.add(document, cell);
        }
        let mut notebook = edit::summary(document, &self.request.path.to_string_lossy());
        written.write(&mut notebook);
        notebook
    }

    fn is_file(&self) -> bool {
        self.request.folder.join(&self.request.path).exists()
    }

    async fn open(&self, session: &mut Session) -> Result<Opened, Outcome> {
        let known = session.document.take();
        if !self.is_file() {
            // A notebook that nothing could execute is not begun.
            let spec = kernel::find(&self.request.kernel, &self.request.folder);
            spec.map_err(|why| Outcome::error(problem::NO_KERNELSPEC, why))?;
        }
        let (folder, path) = (self.request.folder.clone(), self.request.path.clone());
        let (kernel, recorded) = (self.request.kernel.clone(), self.request.recorded.clone());
        let opened = tokio::task::spawn_blocking(move || {
            open(known, &folder, &path, recorded.as_ref(), || metadata(&kernel, &folder))
        })
        .await;
        let wrong = |why: String| Outcome::error(problem::NOTEBOOK, why);
        opened.map_err(|error| wrong(error.to_string()))?.map_err(wrong)
    }

    async fn save(&self, base: Document, is_file: bool, ours: Document) -> Result<Saved, Outcome> {
        let (folder, path) = (self.request.folder.clone(), self.request.path.clone());
        let saved = tokio::task::spawn_blocking(move || saved::save(&folder, &path, &base, is_file, &ours));
        let wrong = |why: String| Outcome::error(problem::NOTEBOOK, why);
        saved.await.map_err(|error| wrong(error.to_string()))?.map_err(wrong)
    }

    async fn edit(
        &self,
        session: &mut Session,
        document: &mut Document,
        action: &Action,
        said: &mut Said,
    ) -> Result<Option<Outcome>, Outcome> {
        // A lost kernel is recovered by the first action that allows it: the machine may allow it once.
        if self.request.reruns && execute::has_executed(document, &self.attempt.run) {
            said.effects.extend(self.ready(session, document).await?);
        }
        let edited = edit::edit(document, &self.request.mark, action, session.last_effect.as_deref());
        let edited = edited.map_err(|why| Outcome::error(problem::NO_CELL, why))?;
        said.summary = edited.summary;
        said.cell = edited.cell;
        said.effects.extend(edited.warning);
        Ok(None)
    }

    async fn execute(
        &self,
        session: &mut Session,
        document: &mut Document,
        name: &str,
        needs_output: bool,
        said: &mut Said,
    ) -> Result<Option<Outcome>, Outcome> {
        let found = edit::code_cell(document, &self.attempt.run, name);
        let at = found.map_err(|why| Outcome::error(problem::NO_CELL, why))?;
        let begun = Instant::now();
        said.effects.extend(self.ready(session, document).await?);
        let Some(kernel) = &mut session.kernel else {
            return Err(Outcome::error(problem::KERNEL_LOST, "the kernel is gone"));
        };
        let cell = Cell {
            attempt: self.attempt,
            folder: &self.request.folder,
            path: &self.request.path,
            at,
            mark: &self.request.mark,
            limit: self.request.limit,
            names: names(&[session.variables.as_ref(), Some(&self.request.variables)]),
        };
        let executed = cell.execute(kernel, document).await;
        if executed.as_ref().is_ok_and(|executed| !executed.is_kernel_usable) {
            session.kernel = None;
        }
        let Executed { summary, effects, evidence, variables, is_failed, failure, .. } = executed?;
        session.last_effect = effects.last().cloned();
        session.variables = variables.or_else(|| session.variables.take());
        said.summary = summary;
        said.cell = Some(document.cells()[at].id.clone());
        said.evidence = evidence;
        said.is_failed = is_failed;
        said.kernel_time = begun.elapsed();
        if needs_output {
            said.effects.extend(effects);
        }
        if matches!(failure.as_ref().map(|failure| &failure.kind), Some(OutcomeKind::Cancelled { .. })) {
            edit::clear_thinking(document, &self.attempt.run);
        }
        Ok(failure)
    }

    /// Makes sure that the session has a kernel of the wanted kind. Returns a notice if cells were executed again.
    async fn ready(&self, session: &mut Session, document: &Document) -> Result<Option<String>, Outcome> {
        let wanted = &self.request.kernel;
        if session
            .kernel
            .as_ref()
            .is_some_and(|kernel| !kernel.is_gone() && kernel.spec.name.eq_ignore_ascii_case(wanted))
        {
            return Ok(None);
        }
        session.kernel = None;
        session.variables = None;
        let spec = kernel::find(wanted, &self.request.folder);
        let spec = spec.map_err(|why| Outcome::error(problem::NO_KERNELSPEC, why))?;
        let rules = self.request.rules.clone();
        let Request { limit, reruns, .. } = &self.request;
        let started = execute::kernel(self.attempt, self.sandbox, rules, spec, document, *limit, *reruns).await?;
        let (kernel, notice) = started;
        session.kernel = Some(kernel);
        self.sessions.watch(&self.attempt.run);
        Ok(notice)
    }

    fn executed(&self, session: &Session, said: Said, notebook: Option<Json>) -> Outcome {
        let variables = session.variables.clone().unwrap_or_else(|| self.request.variables.clone());
        let outputs: Vec<_> = said.evidence.iter().map(|kept| kept.hash.to_string()).collect();
        let mut data = json!({
            "summary": said.summary, "more": self.request.more, "failed": said.is_failed,
            "programs_ms": u64::try_from(said.kernel_time.as_millis()).unwrap_or(u64::MAX), "effects": said.effects, "outputs": outputs,
            "variables": variables, "last_cell": said.cell.unwrap_or_default(),
        });
        if let Some(notebook) = notebook {
            data["notebook"] = notebook;
        }
        Outcome::signal("executed", Value::from(data)).with(said.evidence)
    }
}

/// Adds to a failure what was written before it, so that the run's records describe the file after failures too.
fn with_notebook(mut failure: Outcome, notebook: Json, effects: Vec<String>) -> Outcome {
    if let OutcomeKind::Error { data } = &mut failure.kind {
        let mut fields = Json::from(&*data);
        fields["notebook"] = notebook;
        fields["effects"] = json!(effects);
        *data = Value::from(fields);
    }
    failure
}

/// Returns the names of all fields of some objects, each once.
fn names(objects: &[Option<&Json>]) -> Vec<String> {
    let all = objects.iter().flatten().filter_map(|object| object.as_object()).flat_map(serde_json::Map::keys);
    let mut names: Vec<String> = Vec::new();
    for name in all.filter(|name| !name.is_empty()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the metadata of a new notebook: the kernel that its cells are for.
fn metadata(name: &str, folder: &Path) -> Result<Json, String> {
    let spec = kernel::find(name, folder)?;
    Ok(json!({
        "kernelspec": { "display_name": spec.display_name, "language": spec.language, "name": spec.name },
        "language_info": { "name": spec.language },
    }))
}
