//! The activity behind every `judge.*` name: builds the question, asks the judges, and stores the prompts and answers
//! as evidence.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, OutcomeKind, Requests, Signal, Site, StandIn, StandInQuestion,
    code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_http::Client;
use interlock_journal::Evidence;
use interlock_model::{
    AcceptedMeans,
    telemetry::{Origin, Telemetry},
};
use interlock_process::Sandbox;
use interlock_triage::Rules;
use serde_json::json;

use crate::{
    Mode, Question, Verdict, author, by_hand, case,
    check::Form,
    dialog::{Dialog, Memory},
    last::{self, JUDGEMENT},
    mode,
    panel::{self, Failure, Hearing, Panel, PanelCase},
    prompt::Mark,
    settings::{PERSON, Settings},
    spent::Ledger,
};

/// The activity that asks judges for a verdict.
#[derive(Clone, Debug)]
pub struct Judge(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    home: Option<PathBuf>,
    client: Client,
    found: AcceptedMeans,
    ledger: Arc<Ledger>,
    rules: Arc<Rules>,
    telemetry: Option<Telemetry>,
    sandbox: Sandbox,
    conversations: Memory,
}

/// A question with the form of its answer, its data mark, its mode and the settings that apply.
struct Prepared {
    question: Question,
    form: Form,
    mark: Mark,
    mode: Mode,
    /// The judge that gave the last verdict, if the mode depends on it.
    last: Option<String>,
    settings: Settings,
    /// The conversation, if the state offers tools.
    dialog: Option<Dialog>,
}

impl Judge {
    /// Creates the activity; if `home` is given, the user's settings are read from that store directory.
    pub fn new(home: Option<PathBuf>) -> Self {
        Self::confined(home, Sandbox::default())
    }

    /// Like [`Judge::new`], with a sandbox configuration for programs that act as judges.
    pub fn confined(home: Option<PathBuf>, sandbox: Sandbox) -> Self {
        let client = Client::default();
        Judge(Arc::new(Shared {
            found: AcceptedMeans::default(),
            ledger: Arc::new(Ledger::new(home.clone())),
            rules: Arc::new(Rules::default()),
            telemetry: Telemetry::from_env(&client),
            conversations: Memory::default(),
            sandbox,
            home,
            client,
        }))
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let prepared = {
            let (this, attempt) = (self.clone(), attempt.clone());
            blocking(move || this.prepare(&attempt)).await??
        };
        let panel = Panel {
            settings: prepared.settings,
            rules: Arc::clone(&self.0.rules),
            client: self.0.client.clone(),
            found: self.0.found.clone(),
            ledger: Arc::clone(&self.0.ledger),
            sandbox: self.0.sandbox.clone(),
        };
        let (question, form, mark) = (&prepared.question, &prepared.form, &prepared.mark);
        let (run, activity) = (&*attempt.run, attempt.invocation.name.as_str());
        let (mode, last, dialog) = (prepared.mode, prepared.last.as_deref(), prepared.dialog.as_ref());
        let case = PanelCase { attempt: &attempt, mode, last, question, form, mark, dialog };
        let (mut hearings, mut cancel) = (Vec::new(), attempt.cancel.clone());
        let mut judged = tokio::select! {
            judged = panel.judge(&case, &mut hearings) => Some(judged),
            () = cancel.cancelled() => None,
        };
        if let (Some(author), Some(Ok((by, verdict)))) = (author::of(&attempt.with), &mut judged)
            && author::is_own_judge(author, by, &hearings)
        {
            author::note(verdict, author);
        }
        let redactor = attempt.evidence.redactor();
        self.tell(Origin { run, activity }, &hearings, |text| redactor.text(text).into_owned()).await;
        let outcome = match &judged {
            Some(Ok((by, verdict))) => {
                let text = format!("judged by {by}: {}, {}", verdict.signal, redactor.text(&verdict.reason));
                attempt.host.progress(&attempt.run, attempt.activity, &text);
                Outcome::signal(&verdict.signal, Value::from(verdict.data.clone()))
            }
            Some(Err(Failure::Person { reason })) => Outcome::needs_person(redactor.text(reason)),
            Some(Err(Failure::Error { code, message, next_step })) => {
                let data =
                    [("code", Value::from(*code)), ("message", Value::from(redactor.text(message).into_owned()))];
                let next_step = next_step.as_ref().map(|next_step| ("next_step", Value::from(next_step.as_str())));
                OutcomeKind::Error { data: Value::map(data.into_iter().chain(next_step)) }.into()
            }
            None => Outcome::cancelled("it was cancelled"),
        };
        let verdict = judged.and_then(Result::ok);
        let (prompt, dialog) = (prepared.question.prompt.clone(), prepared.dialog);
        let evidence = blocking(move || {
            let talk =
                verdict.as_ref().and_then(|_| self.kept_talk(&attempt, dialog.as_ref(), &hearings)).transpose()?;
            let mut kept = keep(&attempt, &prompt, verdict.as_ref(), hearings)?;
            kept.extend(talk);
            Ok::<_, Outcome>(kept)
        });
        Ok(outcome.with(evidence.await??))
    }

    fn prepare(&self, attempt: &Attempt) -> Result<Prepared, Outcome> {
        let bad_input = |why: String| Outcome::error(code::BAD_INPUT, why);
        let settings = Settings::load(self.0.home.as_deref(), &attempt.folder)
            .map_err(|why| Outcome::error(panel::code::BAD_SETTINGS, why))?;
        let dialog = Dialog::file(attempt).map(|path| Dialog::find(attempt, &self.0.conversations, path));
        let mut dialog = dialog.transpose().map_err(bad_input)?;
        let mark = dialog.as_ref().map_or_else(Mark::fresh, |dialog| Ok(dialog.mark()));
        let mark = mark.map_err(|why| Outcome::error(code::FAILED, why))?;
        let mode = Mode::of(&serde_json::Value::from(&attempt.with)).map_err(bad_input)?;
        let question = case::question(&StandIn::of(attempt), &mark).map_err(bad_input)?;
        let form = Form::new(&question).map_err(bad_input)?;
        if let Some(dialog) = &mut dialog {
            dialog.tell(attempt, &question);
        }
        let last = match mode {
            Mode::Next => last::last(attempt).map_err(|why| Outcome::error(code::FAILED, why))?,
            Mode::Whole | Mode::Rules => None,
        };
        Ok(Prepared { question, form, mark, mode, last, settings, dialog })
    }

    /// Stores the conversation with the model that gave the verdict.
    fn kept_talk(
        &self,
        attempt: &Attempt,
        dialog: Option<&Dialog>,
        hearings: &[Hearing],
    ) -> Option<Result<Evidence, Outcome>> {
        let opened = hearings.last()?.opened.as_ref()?;
        let kept = dialog?.keep(attempt, &self.0.conversations, opened);
        Some(kept.map_err(|why| Outcome::not_stored(format!("the conversation could not be stored: {why}"))))
    }

    async fn tell(&self, origin: Origin<'_>, hearings: &[Hearing], redacted: impl Fn(&str) -> String) {
        if let Some(telemetry) = &self.0.telemetry {
            let mut tries: Vec<_> = hearings.iter().flat_map(|hearing| hearing.tries.iter().cloned()).collect();
            tries.iter_mut().for_each(|tried| tried.fault = tried.fault.as_deref().map(&redacted));
            // A failure of telemetry must not stop a run, so the result is ignored.
            let _ = telemetry.send(origin, &tries).await;
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Outcome> {
    let broken =
        |error: tokio::task::JoinError| Outcome::error(code::FAILED, format!("the judge failed unexpectedly: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)
}

/// Stores every prompt, every answer and the verdict as evidence.
fn keep(
    attempt: &Attempt,
    prompt: &str,
    verdict: Option<&(String, Verdict)>,
    hearings: Vec<Hearing>,
) -> Result<Vec<Evidence>, Outcome> {
    let put = |name: &str, media: &str, text: &str| {
        attempt
            .evidence
            .put(name, media, text.as_bytes())
            .map_err(|error| Outcome::not_stored(format!("the judge's question could not be stored: {error}")))
    };
    let redactor = attempt.evidence.redactor();
    let shown = hearings.iter().filter_map(|hearing| hearing.shown.as_ref());
    let mut prompts: Vec<String> = shown.map(|shown| format!("{}\n{}", shown.system, shown.user)).collect();
    prompts.dedup();
    if prompts.is_empty() {
        prompts.push(prompt.to_owned());
    }
    let mut kept = Vec::new();
    for (at, text) in prompts.iter().enumerate() {
        let name = if at == 0 { "prompt".to_owned() } else { format!("prompt-{}", at + 1) };
        kept.push(put(&name, "text/markdown", &redactor.text(text))?);
    }
    let mut judgement = json!({
        "activity": attempt.invocation.name,
        "judge": verdict.map(|(by, _)| by),
        "verdict": verdict.map(|(_, verdict)| verdict),
        "hearings": hearings,
    });
    redactor.json(&mut judgement);
    kept.push(put(JUDGEMENT, "application/json", &judgement.to_string())?);
    Ok(kept)
}

impl Activity for Judge {
    fn name(&self) -> &str {
        "judge.*"
    }

    fn summary(&self) -> &str {
        "Asks a model, rules or a person, and validates the answer."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("prompt", schema::meaning("prompt")),
            ("schema", schema::meaning("schema-file")),
            ("tools", schema::meaning("setting")),
            ("conversation", schema::meaning("setting")),
            (mode::FIELD, mode::schema()),
            (author::FIELD, schema::text()),
        ]);
        schema::needing(schema::open(fields), &["prompt"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    /// The time is spent waiting for models.
    fn uses_cores(&self) -> bool {
        false
    }

    /// Refuses a judgement whose only judge is a person: the run then waits for that person instead of starting the
    /// activity.
    fn takes(&self, name: &str, folder: &Path) -> bool {
        Settings::load(self.0.home.as_deref(), folder).map_or(true, |settings| settings.chain(name) != [PERSON])
    }

    fn not_taken_because(&self) -> &str {
        "no other judge is left"
    }

    fn asked(&self, of: &StandIn<'_>) -> Option<StandInQuestion> {
        by_hand::asked(of)
    }

    fn misfits(&self, of: &StandIn<'_>, signal: &str, data: &Value) -> Vec<String> {
        by_hand::misfits(of, signal, data)
    }

    fn run_ended(&self, run: &str) {
        self.0.conversations.forget(run);
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
