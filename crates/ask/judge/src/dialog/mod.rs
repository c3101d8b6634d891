//! A judgement that is a conversation: a model calls tools, the machine decides about each call, and the results come
//! back in the next judgement.
//!
//! A state asks for this with `tools`, a file of the machine that lists the tools. The model answers with a tool call,
//! which becomes the signal [`CALL`], or with one of the state's other signals, which are offered as tools too. The
//! conversation is kept as evidence under the id that the state names (`conversation.rs`), and every request repeats it
//! unchanged from its beginning, so that providers can cache it. `digest.rs` replaces old messages when the model's
//! window is full. Nothing here carries out a tool.

mod answer;
mod conversation;
mod digest;
mod tools;
mod words;

pub(crate) use answer::Answered;
pub(crate) use conversation::Memory;
pub(crate) use words::refusal;

use interlock_activity::Attempt;
use interlock_journal::{Evidence, Hash};
use interlock_model::{Ask, Reply, ToolSpec, Turn};
use serde_json::Value;

use crate::{Question, check::Form, prompt::Mark};
use conversation::Conversation;
use tools::Tools;

/// The signal of a tool call.
pub(crate) const CALL: &str = "TOOL_CALL_REQUEST";

/// The field of `with` that names the file with the tools.
pub(crate) const TOOLS: &str = "tools";

/// The field of `with` that holds the id of the conversation.
pub(crate) const ID: &str = "conversation";

/// The fact that holds the result of the last call.
pub(crate) const RESULT: &str = "result";

/// One judgement of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Dialog {
    tools: Tools,
    /// The conversation up to the last judgement.
    before: Conversation,
    /// The evidence that holds it.
    head: Option<Hash>,
    /// The messages that this judgement adds before the model is asked.
    added: Vec<Turn>,
}

/// A conversation as one model is asked to continue it.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    system: String,
    instead_of_tools: String,
    tools: Vec<ToolSpec>,
    schema: Value,
    pub(crate) turns: Vec<Turn>,
    /// The number of messages that the kept conversation already has; `None` if it was replaced by a digest.
    known: Option<usize>,
}

impl Dialog {
    /// Returns the file with the tools that a state names, if it does.
    pub(crate) fn file(attempt: &Attempt) -> Option<&str> {
        attempt.with.get(TOOLS).and_then(interlock_chart::Value::as_str)
    }

    /// Finds the conversation of a state, or begins one. May block.
    pub(crate) fn find(attempt: &Attempt, memory: &Memory, path: &str) -> Result<Self, String> {
        let id = attempt.with.get(ID).map(ToString::to_string).unwrap_or_default();
        let tools = Tools::read(attempt, path)?;
        let (head, before) = memory.load(attempt, &id)?.map_or((None, None), |(head, found)| (Some(head), Some(found)));
        let before = match before {
            Some(before) => before,
            None => Conversation::begin(&id, Mark::fresh()?.into_text()),
        };
        Ok(Dialog { tools, before, head, added: Vec::new() })
    }

    /// Returns the mark that delimits data in this conversation.
    pub(crate) fn mark(&self) -> Mark {
        Mark::from_text(&self.before.mark)
    }

    /// Adds the result of the last call, or the facts that have changed since the model saw them.
    pub(crate) fn tell(&mut self, attempt: &Attempt, question: &Question) {
        let mark = self.mark();
        let result = question.facts.get(RESULT).filter(|result| !result.is_null());
        if let Some(Turn::Calls(turn)) = self.before.turns.last() {
            self.added.push(Turn::Results(words::results(&turn.calls, result, &self.tools, &mark)));
        }
        let is_first = self.before.turns.is_empty();
        if is_first {
            self.before.system = words::system(question, &mark, &attempt.folder);
        }
        if is_first || result.is_none() || self.added.is_empty() {
            let news = self.before.news(question);
            self.added.push(Turn::User(words::message(&news, &mark, is_first)));
        }
    }

    /// Returns the conversation for a model, with a digest of old messages if it does not fit into `room_tokens`.
    pub(crate) fn open(&self, room_tokens: u64) -> Result<Opened, String> {
        let (tools, instead_of_tools) = (self.tools.specs(), words::instead_of_tools(&self.tools));
        let fixed = words::tokens(&self.before.system, &tools);
        let room = room_tokens.checked_sub(fixed).filter(|room| *room >= digest::ROOM_TOKENS_MIN);
        let room = room.ok_or_else(|| {
            format!("the instructions and tools take {fixed} of {room_tokens} tokens; give the model a larger `window_tokens`")
        })?;
        let turns: Vec<Turn> = self.before.turns.iter().chain(&self.added).cloned().collect();
        let (turns, is_whole) = digest::fit(turns, room);
        Ok(Opened {
            system: self.before.system.clone(),
            instead_of_tools,
            tools,
            schema: self.tools.answer_schema(),
            known: is_whole.then_some(self.before.turns.len()),
            turns,
        })
    }

    /// Reads a reply: a verdict, or problems that the model is told about.
    pub(crate) fn read(
        &self,
        reply: &Reply,
        form: &Form,
        question: &Question,
        nudges: u32,
        so_far: &[Turn],
    ) -> Answered {
        answer::read(&self.tools, reply, form, question, nudges, so_far.len())
    }

    /// Stores the conversation with all messages up to the model's answer.
    pub(crate) fn keep(&self, attempt: &Attempt, memory: &Memory, opened: &Opened) -> Result<Evidence, String> {
        memory.keep(attempt, &self.before, self.head, &opened.turns, opened.known)
    }
}

impl Opened {
    /// Returns the request that continues the conversation.
    pub(crate) fn ask(&self, reply_tokens_max: u32) -> Ask<'_> {
        Ask {
            system: &self.system,
            turns: &self.turns,
            tools: &self.tools,
            instead_of_tools: &self.instead_of_tools,
            schema: &self.schema,
            subset: None,
            bounded: None,
            reply_tokens_max,
        }
    }

    /// Estimates the tokens of the instructions and the tools.
    pub(crate) fn fixed_tokens(&self) -> u64 {
        words::tokens(&self.system, &self.tools)
    }

    /// Estimates the tokens of the messages.
    pub(crate) fn turns_tokens(&self) -> u64 {
        self.turns.iter().map(Turn::tokens).sum()
    }

    /// Reports if old messages were replaced by a digest.
    pub(crate) fn is_cut(&self) -> bool {
        self.known.is_none()
    }
}
