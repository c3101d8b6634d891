//! Arguments of `kb`: what runs have learned.

use clap::{Subcommand, ValueEnum};

/// Arguments of `kb`.
#[derive(Debug, clap::Args)]
pub(crate) struct Kb {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

/// What can be done with what runs have learned.
#[derive(Debug, Subcommand)]
pub(crate) enum KbCommand {
    /// Find entries by words, and by meaning where judges.toml names an embedding model
    Search(KbSearch),
    /// Show an entry
    Show {
        /// Its id: ku_YYYYMMDD_NNN
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Write all entries to stdout
    Export {
        /// As what
        #[arg(long, value_enum, default_value_t = KbFormat::Jsonl)]
        format: KbFormat,
    },
}

/// Arguments of `kb search`.
#[derive(Debug, clap::Args)]
pub(crate) struct KbSearch {
    /// What to look for: words, or a whole message
    #[arg(value_name = "QUERY", required = true)]
    pub(crate) query: Vec<String>,
    /// Only entries of this kind of product
    #[arg(long, value_name = "P")]
    pub(crate) product_line: Option<String>,
    /// Only entries with this tag; given more than once, with all of them
    #[arg(long = "tag", value_name = "T")]
    pub(crate) tags: Vec<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

/// What entries are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KbFormat {
    /// One JSON object a line
    Jsonl,
    /// Markdown
    Md,
}
