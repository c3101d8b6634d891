//! The arguments of the commands about the server.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Subcommand, ValueEnum};

/// The arguments of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The address and port; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    pub(crate) listen: SocketAddr,
    /// A directory in which runs may start, besides those in serve.toml; can be given several times [default: the
    /// current directory, if serve.toml names none]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// The certificate, as PEM, so that other computers can reach the server
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "origin"])]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy with TLS on this computer forwards requests to this server
    #[arg(long, requires = "origin", conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
    /// The address that browsers use, such as https://interlock.example
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Option<String>,
}

/// The arguments of `mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// A directory in which runs may start, besides those in serve.toml; can be given several times [default: the
    /// current directory, if serve.toml names none]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
}

/// The arguments of `token`.
#[derive(Debug, clap::Args)]
pub(crate) struct Token {
    /// The action; without one, the tokens are listed
    #[command(subcommand)]
    pub(crate) action: Option<TokenAction>,
}

/// An action on tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// List the tokens
    List,
    /// Add a token and print it; it is stored as a hash and cannot be shown again
    Add {
        /// The name that records of its actions carry
        name: String,
        /// Its rights
        #[arg(long, value_enum, default_value_t = RoleName::Viewer)]
        role: RoleName,
        /// The number of days after which it expires
        #[arg(long, value_name = "N", default_value_t = 90)]
        days: u32,
    },
    /// Remove a token; it is refused from then on
    Remove {
        /// The name of the token
        name: String,
    },
}

/// The rights of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    /// Reads everything
    Viewer,
    /// Also starts runs, for a program that works for a model; never answers for a person
    Agent,
    /// Also acts as a person: answers, grants, pauses, aborts, forks and undoes. An operator can execute code
    Operator,
    /// All rights
    Admin,
}
