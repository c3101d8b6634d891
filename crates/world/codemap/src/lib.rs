//! A map of a repository: its files, its languages, and the symbols that are relevant to a goal, within a token budget.
//!
//! `list.rs` lists the files with `git`, `skip.rs` excludes files, `language.rs` and `queries/` define the definitions
//! of each language, `tags.rs` extracts definitions and references from a file, `cache.rs` caches them by content, and
//! `survey.rs` combines these steps. `rank.rs` ranks files and symbols by the words of the goal (`words.rs`) and the
//! places that the goal or a log mentions (`mentions.rs`). `map.rs` selects the entries that fit, and `text.rs` formats
//! them.
//!
//! The crate runs no code of the repository and changes nothing in it. It does not resolve symbols: a name that is
//! defined in one file and referenced in another connects the two, regardless of the language's visibility rules.
//!
//! Start reading at `survey.rs`.

mod cache;
mod code;
mod error;
mod expectations;
mod functions;
mod git;
mod items;
mod language;
mod list;
mod map;
mod mentions;
mod names;
mod patches;
mod rank;
mod skip;
mod survey;
mod syntax;
mod tags;
mod text;
mod words;

pub use code::code;
pub use error::{Error, Result};
pub use expectations::{Expectation, expectations};
pub use functions::{Branch, BranchKind, Function, blocks, branches, functions, without_comments};
pub use items::{Item, ItemKind, items};
pub use map::{Count, Entry, Map, Symbol};
pub use mentions::{Mention, mentions};
pub use patches::{Patch, patches};
pub use rank::{RankedSymbol, Ranking};
pub use skip::Reason;
pub use survey::{Survey, Wish};
pub use syntax::new_error;

/// The default token budget of a map.
pub const TOKENS: usize = 2_048;

/// The approximate number of bytes per token.
pub const BYTES_PER_TOKEN: usize = 4;
