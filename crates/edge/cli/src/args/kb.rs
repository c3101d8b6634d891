//! Arguments of `kb`: the knowledge base that runs have filled.

use clap::{Subcommand, ValueEnum};

/// The arguments of `kb`.
#[derive(Debug, clap::Args)]
pub(crate) struct Kb {
    /// The subcommand to run
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

/// The subcommands of `kb`.
#[derive(Debug, Subcommand)]
pub(crate) enum KbCommand {
    /// Find entries by words, and by meaning if judges.toml names an embedding model
    Search(KbSearch),
    /// Show an entry by its id
    Show {
        /// The id of the entry: ku_YYYYMMDD_NNN
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Write all entries to stdout
    Export {
        /// The output format
        #[arg(long, value_enum, default_value_t = KbFormat::Jsonl)]
        format: KbFormat,
    },
}

/// The arguments of `kb search`.
#[derive(Debug, clap::Args)]
pub(crate) struct KbSearch {
    /// The words to search for, or a whole message
    #[arg(value_name = "QUERY", required = true)]
    pub(crate) query: Vec<String>,
    /// Only entries of this product line
    #[arg(long, value_name = "P")]
    pub(crate) product_line: Option<String>,
    /// Only entries with this tag; given more than once, with all of them
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// The maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

/// The formats in which entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KbFormat {
    /// One JSON object per line
    Jsonl,
    /// A Markdown document for people
    Md,
}
