//! A map of a repository: its files, its languages, and the symbols that matter for a goal, within a number of tokens.
//!
//! `list.rs` says which files there are (`git` does), `skip.rs` which are not looked into, `language.rs` and `queries/` what a definition is in each
//! language, `tags.rs` takes definitions and names out of a file, `cache.rs` remembers them by content, and `survey.rs` puts these together.
//! `rank.rs` says what matters, with the words of the goal (`words.rs`) and the places that it or a log names (`mentions.rs`); `map.rs` chooses what
//! fits, `text.rs` writes it down.
//!
//! Nothing of the repository is run, and nothing in it is changed. What a symbol means is not known here: a name that is defined in one file
//! and spoken of in another connects the two, whatever the language's own rules of visibility say.
//!
//! Start reading at `survey.rs`.

mod cache;
mod error;
mod git;
mod language;
mod list;
mod map;
mod mentions;
mod names;
mod rank;
mod skip;
mod survey;
mod tags;
mod text;
mod words;

pub use error::{Error, Result};
pub use map::{Count, Entry, Map, Symbol};
pub use mentions::{Mention, mentions};
pub use rank::{Place, Ranking};
pub use skip::Reason;
pub use survey::{Survey, Wish};

/// How many tokens a map has where nobody says.
pub const TOKENS: usize = 2_048;

/// Bytes of text in a token, about.
pub const BYTES_PER_TOKEN: usize = 4;
