//! The panel: asks one judge after the other until one of them gives a valid verdict.
//!
//! A model whose answer is refused gets the list of problems and may correct it, at most [`REPAIRS_MAX`] times. Then
//! the next judge is asked, and finally the rules, or the person at the end of the chain; the activity then waits for
//! that person. If a state wants several votes, they must agree. Nothing is spent beyond the budget.

use std::sync::Arc;

use interlock_activity::Attempt;
use interlock_http::Client;
use interlock_model::{AcceptedMeans, Ask, Fault, Model, NOTICE, Reply, Try, Turn, estimate_tokens};
use interlock_process::Sandbox;
use interlock_triage::Rules;
use serde::Serialize;

use crate::{
    Mode, Question, REFUSED_CALL, Verdict,
    asker::{self, AttemptAsks},
    check::{self, Form, Problem},
    dialog::{self, Answered, Dialog, Opened},
    prompt::{self, Mark, RenderedPrompt},
    rules,
    settings::{PERSON, RULES, Settings},
    spent::{self, Ledger},
};

/// The maximum number of corrections that a model may make to its answer.
pub const REPAIRS_MAX: u32 = 3;

/// The maximum length of a refused answer that is sent back to the model.
const REFUSED_CHARS_MAX: usize = 2_000;

/// The part of the context window that is reserved for a refused answer and its problems.
const REPAIR_TOKENS: u64 = 1_600;

/// The maximum number of times that one question is made shorter because it does not fit into the model's window.
const COMPACTIONS_MAX: u32 = 4;

/// The message if only a model could answer and none is configured.
const NO_MODEL: &str =
    "no model is configured; add one to judges.toml as docs/judges.md shows, then test it with `interlock doctor`";

/// The next action of a person then.
const ADD_MODEL: &str = "add a model to judges.toml as docs/judges.md shows, then test it with `interlock doctor`";

/// Error codes of failed judgements.
pub mod code {
    /// No judge of the chain, including the rules, gave a verdict.
    pub const MODEL_FAILURE: &str = "MODEL_FAILURE";
    /// The run's budget does not allow another question.
    pub const BUDGET: &str = "BUDGET";
    /// The votes did not agree.
    pub const UNDECIDED: &str = "UNDECIDED";
    /// `judges.toml` cannot be used.
    pub const BAD_SETTINGS: &str = "BAD_SETTINGS";
}

/// The case that a panel judges.
#[derive(Clone, Copy)]
pub struct PanelCase<'a> {
    /// The attempt that asks for the verdict.
    pub attempt: &'a Attempt,
    /// The position in the chain at which to start.
    pub mode: Mode,
    /// The judge that gave the last verdict on this activity.
    pub last: Option<&'a str>,
    /// The question to be judged.
    pub question: &'a Question,
    /// The required form of the answer.
    pub form: &'a Form,
    /// The mark that delimits data in the prompt.
    pub mark: &'a Mark,
    /// The conversation that the question continues, if its state offers tools.
    pub(crate) dialog: Option<&'a Dialog>,
}

/// One judge's turn: the prompt, the answers and their problems.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Hearing {
    /// The judge's name in the settings.
    pub judge: String,
    /// The prompt that a model was shown.
    #[serde(skip)]
    pub shown: Option<RenderedPrompt>,
    /// True if data was left out because it did not fit into the context window.
    pub is_cut: bool,
    /// The conversation with the model's answer.
    #[serde(skip)]
    pub(crate) opened: Option<Opened>,
    /// Every answer, with its problems.
    pub answers: Vec<JudgeAnswer>,
    /// Every request, in order.
    pub tries: Vec<Try>,
    /// The verdict, if the judge gave one.
    pub verdict: Option<Verdict>,
    /// The failure, if the judge gave no verdict.
    pub fault: Option<String>,
    /// The next action of a person, if the judge could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

/// One answer of a judge.
#[derive(Clone, Debug, Serialize)]
pub struct JudgeAnswer {
    /// The text as it was received.
    pub said: String,
    /// The problems found; empty if the answer is a verdict.
    pub problems: Vec<Problem>,
}

/// The reason why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The next judge of the chain is a person.
    Person {
        /// A summary of the hearings so far, shown to that person.
        reason: String,
    },
    /// The judgement ends with an error.
    Error {
        /// One of [`code`].
        code: &'static str,
        /// The error's message.
        message: String,
        /// The next action of a person, if it is known.
        next_step: Option<String>,
    },
}

/// All judges of a project.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The settings that name the judges.
    pub settings: Settings,
    /// The data and tables that the rules use.
    pub rules: Arc<Rules>,
    /// The client that connects to servers.
    pub client: Client,
    /// The JSON mechanisms that servers were found to support.
    pub found: AcceptedMeans,
    /// The record of tokens and cost spent by each run.
    pub ledger: Arc<Ledger>,
    /// The sandbox configuration for programs that act as judges.
    pub sandbox: Sandbox,
}

impl<'a> PanelCase<'a> {
    fn run(&self) -> &'a str {
        &self.attempt.run
    }

    fn activity(&self) -> &'a str {
        &self.attempt.invocation.name
    }
}

impl Panel {
    /// Returns a verdict and the name of its judge, or the reason why there is none. All hearings are appended to
    /// `hearings`.
    pub async fn judge(&self, case: &PanelCase<'_>, hearings: &mut Vec<Hearing>) -> Result<(String, Verdict), Failure> {
        for name in case.mode.chain(self.settings.chain(case.activity()), case.last) {
            if name == PERSON {
                return Err(Failure::Person { reason: told(hearings) });
            }
            if let Some(verdict) = self.hear(name, case, hearings).await? {
                return Ok((name.to_owned(), verdict));
            }
        }
        let (message, next_step) = match self.settings.judges.is_empty() {
            true => (format!("there is no verdict; {}; {NO_MODEL}", told(hearings)), Some(ADD_MODEL.to_owned())),
            false => {
                let next_step = hearings.iter().find_map(|hearing| hearing.next_step.clone());
                (format!("there is no verdict; {}", told(hearings)), next_step)
            }
        };
        Err(Failure::Error { code: code::MODEL_FAILURE, message, next_step })
    }

    async fn hear(
        &self,
        name: &str,
        case: &PanelCase<'_>,
        hearings: &mut Vec<Hearing>,
    ) -> Result<Option<Verdict>, Failure> {
        if name == RULES {
            let hearing = by_rules(case, &self.rules);
            let verdict = hearing.verdict.clone();
            hearings.push(hearing);
            return Ok(verdict);
        }
        let Some(backend) = self.settings.judges.get(name) else { return Ok(None) };
        let model = Model::new(name, backend.clone(), &self.client, &self.found);
        if let Some(dialog) = case.dialog {
            let mut hearing = Hearing { judge: name.to_owned(), ..Hearing::default() };
            let heard = self.converse(&model, case, dialog, &mut hearing).await;
            let verdict = hearing.verdict.clone();
            hearings.push(hearing);
            return heard.map(|()| verdict);
        }
        let mut votes: Vec<Verdict> = Vec::new();
        for _ in 0..self.settings.votes(case.activity()) {
            let mut hearing = Hearing { judge: name.to_owned(), ..Hearing::default() };
            let heard = self.ask(&model, case, &mut hearing).await;
            let verdict = hearing.verdict.clone();
            hearings.push(hearing);
            heard?;
            match verdict {
                Some(verdict) => votes.push(verdict),
                None => return Ok(None),
            }
        }
        agreed(name, votes)
    }

    /// Asks a model until its answer is a verdict, or until the corrections are used up.
    async fn ask(&self, model: &Model, case: &PanelCase<'_>, hearing: &mut Hearing) -> Result<(), Failure> {
        let reserved = u64::from(model.reply_tokens_max()) + REPAIR_TOKENS;
        let room = model.window_tokens().saturating_sub(reserved);
        let mut shown = match prompt::show(case.question, case.form, case.mark, room) {
            Ok(shown) => shown,
            Err(why) => {
                hearing.fault = Some(why);
                return Ok(());
            }
        };
        let mut turns = vec![Turn::User(shown.user.clone())];
        let (mut round, mut compactions) = (0, 0);
        while round <= REPAIRS_MAX {
            let ask = Ask {
                system: &shown.system,
                turns: &turns,
                tools: &[],
                instead_of_tools: "",
                schema: case.form.schema(),
                subset: case.form.subset(),
                bounded: case.form.bounded(),
                reply_tokens_max: model.reply_tokens_max(),
            };
            let reply = match self.ask_once(model, case, ask, hearing).await? {
                Ok(reply) => reply,
                Err(Fault::Overflow(said)) if compactions < COMPACTIONS_MAX => {
                    compactions += 1;
                    let room = (estimate_tokens(&shown.system) + estimate_tokens(&shown.user)) / 2;
                    match prompt::show(case.question, case.form, case.mark, room) {
                        Ok(shorter) => shown = shorter,
                        Err(_) => break,
                    }
                    notice(
                        case,
                        &format!(
                            "the question did not fit into the window of {} ({said}); it was shortened",
                            model.name()
                        ),
                    );
                    turns = vec![Turn::User(shown.user.clone())];
                    continue;
                }
                Err(_) => break,
            };
            let problems = match checked(case, &reply) {
                Ok(verdict) => {
                    hearing.answers.push(JudgeAnswer { said: reply.text, problems: Vec::new() });
                    hearing.verdict = Some(verdict);
                    break;
                }
                Err(problems) => problems,
            };
            turns.truncate(1);
            turns.extend(refusal(&reply, &problems));
            hearing.answers.push(JudgeAnswer { said: reply.text, problems });
            if round == REPAIRS_MAX {
                hearing.fault = Some(given_up(&hearing.answers));
            }
            round += 1;
        }
        hearing.is_cut = shown.is_cut;
        hearing.shown = Some(shown);
        Ok(())
    }

    /// Lets a model continue a conversation until it answers with a valid call or signal, or until the corrections are
    /// used up. Refused answers stay in the conversation, so that its beginning never changes.
    async fn converse(
        &self,
        model: &Model,
        case: &PanelCase<'_>,
        dialog: &Dialog,
        hearing: &mut Hearing,
    ) -> Result<(), Failure> {
        let reserved = u64::from(model.reply_tokens_max()) + REPAIR_TOKENS;
        let room = model.window_tokens().saturating_sub(reserved);
        let room = model.conversation_tokens_max().map_or(room, |most| most.min(room));
        let mut opened = match dialog.open(room) {
            Ok(opened) => opened,
            Err(why) => {
                hearing.fault = Some(why);
                return Ok(());
            }
        };
        let (mut nudges, mut round, mut compactions) = (0, 0, 0);
        while round <= REPAIRS_MAX {
            let reply = match self.ask_once(model, case, opened.ask(model.reply_tokens_max()), hearing).await? {
                Ok(reply) => reply,
                Err(Fault::Overflow(said)) if compactions < COMPACTIONS_MAX => {
                    compactions += 1;
                    let before = opened.turns_tokens();
                    match dialog.open(opened.fixed_tokens() + before / 2) {
                        Ok(shorter) => opened = shorter,
                        Err(_) => break,
                    }
                    notice(
                        case,
                        &format!(
                            "the conversation did not fit into the window of {} ({said}); it was compacted from about {before} to about {} \
                             tokens: the request and the latest messages are kept, the others are listed in short",
                            model.name(),
                            opened.turns_tokens()
                        ),
                    );
                    continue;
                }
                Err(_) => break,
            };
            let Answered { turn, verdict } = dialog.read(&reply, case.form, case.question, nudges, &opened.turns);
            nudges += u32::from(matches!(turn, Turn::Model(_)));
            let said = turn.plain().1;
            match verdict {
                Ok(verdict) => {
                    hearing.answers.push(JudgeAnswer { said, problems: Vec::new() });
                    hearing.verdict = Some(verdict);
                    opened.turns.push(turn);
                    break;
                }
                Err(problems) => {
                    if let (Turn::Calls(_), Some(problem)) = (&turn, problems.first()) {
                        notice(case, &format!("{REFUSED_CALL}{problem}"));
                    }
                    opened.turns.extend(dialog::refusal(&turn, &problems));
                    hearing.answers.push(JudgeAnswer { said, problems });
                }
            }
            if round == REPAIRS_MAX {
                hearing.fault = Some(given_up(&hearing.answers));
            }
            round += 1;
        }
        hearing.is_cut = opened.is_cut();
        hearing.opened = Some(opened);
        Ok(())
    }

    /// Asks one question within the budget. If there was no answer, the hearing holds the fault too.
    async fn ask_once(
        &self,
        model: &Model,
        case: &PanelCase<'_>,
        mut ask: Ask<'_>,
        hearing: &mut Hearing,
    ) -> Result<Result<Reply, Fault>, Failure> {
        let over = |why: String| Failure::Error {
            code: code::BUDGET,
            message: format!("the run's budget for models: {why}"),
            next_step: Some("raise the budget in judges.toml, or begin another conversation".to_owned()),
        };
        let turn = self.ledger.turn(case.run());
        let _turn = turn.lock().await;
        let spent = self.ledger.spent(case.run()).map_err(over)?;
        let (budget, price) = (self.settings.budget, model.price());
        ask.reply_tokens_max =
            spent::allowance(budget, spent, price, ask.tokens(), ask.reply_tokens_max).map_err(over)?;
        let called = model.ask(&ask, &AttemptAsks { attempt: case.attempt, sandbox: &self.sandbox }).await;
        for tried in &called.tries {
            self.ledger.add(case.run(), tried).map_err(over)?;
        }
        hearing.tries.extend(called.tries);
        (hearing.fault, hearing.next_step) = match &called.reply {
            Ok(_) => (None, None),
            Err(fault) => (Some(fault.to_string()), Some(fault.next_step(model.name()))),
        };
        Ok(called.reply)
    }
}

/// Tells people about something that happened while a model was asked.
fn notice(case: &PanelCase<'_>, text: &str) {
    asker::show(case.attempt, &format!("{NOTICE}{text}"));
}

/// Summarises the result of every judge that was asked.
fn told(hearings: &[Hearing]) -> String {
    let told = hearings
        .iter()
        .map(|hearing| format!("{}: {}", hearing.judge, hearing.fault.as_deref().unwrap_or("no verdict")));
    told.collect::<Vec<_>>().join("; ")
}

fn checked(case: &PanelCase<'_>, reply: &Reply) -> Result<Verdict, Vec<Problem>> {
    match reply.is_cut_off {
        true => Err(vec![Problem::new("answer", "was cut off because it is too long; answer in fewer words")]),
        false => check::check(case.form, case.question, &reply.text),
    }
}

fn refusal(reply: &Reply, problems: &[Problem]) -> [Turn; 2] {
    let said: String = reply.text.chars().take(REFUSED_CHARS_MAX).collect();
    // Some servers refuse an empty message.
    let said = if said.trim().is_empty() { "(nothing)".to_owned() } else { said };
    let list: Vec<String> = problems.iter().map(|problem| format!("- {problem}")).collect();
    let words = format!(
        "Your answer was refused:\n{}\n\nAnswer again: one JSON object in the form given above, and nothing else.",
        list.join("\n")
    );
    [Turn::Model(said), Turn::User(words)]
}

fn given_up(answers: &[JudgeAnswer]) -> String {
    let last = answers.last().and_then(|answer| answer.problems.first()).map(ToString::to_string).unwrap_or_default();
    format!("{} answers were refused, the last because of {last}", answers.len())
}

/// Asks the rules; their verdict passes the same check as that of a model.
fn by_rules(case: &PanelCase<'_>, rules: &Rules) -> Hearing {
    let mut hearing = Hearing { judge: RULES.to_owned(), ..Hearing::default() };
    let Some(verdict) = rules::judge(case.question, rules) else {
        hearing.fault = Some("no rule applies".to_owned());
        return hearing;
    };
    let said = serde_json::to_string(&verdict).unwrap_or_default();
    match check::check(case.form, case.question, &said) {
        Ok(verdict) => hearing.verdict = Some(verdict),
        Err(problems) => {
            hearing.fault = problems.first().map(|problem| format!("the rules' answer does not fit: {problem}"));
            hearing.answers.push(JudgeAnswer { said, problems });
        }
    }
    hearing
}

/// Combines several votes: they count as one verdict if all name the same signal; the confidence is the lowest of them.
fn agreed(name: &str, votes: Vec<Verdict>) -> Result<Option<Verdict>, Failure> {
    let signals: Vec<String> = votes.iter().map(|vote| vote.signal.clone()).collect();
    let confidence = votes.iter().map(|vote| vote.confidence).fold(1.0, f64::min);
    match votes.into_iter().next() {
        Some(first) if signals.iter().all(|signal| *signal == first.signal) => {
            Ok(Some(Verdict { confidence, ..first }))
        }
        Some(_) => {
            let message = format!("{name} was asked {} times and answered {}", signals.len(), signals.join(", "));
            Err(Failure::Error { code: code::UNDECIDED, message, next_step: None })
        }
        None => Ok(None),
    }
}
