//! Conversations with the machine `coder`: on a terminal (`terminal.rs`), as JSON lines (`lines.rs`), and with an editor
//! over the Agent Client Protocol (`acp/`).
//!
//! All of them share `conversation.rs`, which moves a run from one question to the next, and `happening.rs`, which turns
//! records into the things that a person wants to see: text, tool calls, plans, the end of a turn. Nothing here decides
//! anything; every answer is an event that the machine takes.

pub(crate) mod acp;
pub(crate) mod conversation;
mod editor;
pub(crate) mod happening;
mod keyboard;
pub(crate) mod lines;
pub(crate) mod paint;
mod slash;
pub(crate) mod terminal;

pub(crate) use conversation::Conversation;
pub(crate) use editor::Messages;
