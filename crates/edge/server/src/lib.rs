//! The server: keeps runs moving, fires timers, and answers the HTTP API and the page.
//!
//! A server owns the clock of a store: it fires due timers, takes up runs whose process has ended, and moves the runs
//! that are started through it. Everything else works as before: other commands use the same store at the same time.
//!
//! - `serve` listens and ends; `connections` limits clients; `guard` decides which requests are answered at all (host, origin, token, role, rate);
//! - `api` has one file per group of endpoints, and the table from which the OpenAPI document is made;
//! - `hub` turns the store's change feed into events for browsers; `history` reads any part of a long run;
//! - `page` sends the files of the page, which are in `page/` and need no build step;
//! - `notify` tells other programs about runs that wait, end or are late;
//! - `mcp` offers endpoints as tools to models; `access` knows tokens and sessions.
//!
//! The server knows no particular activity and no command: the program that starts it supplies [`Services`].
//! Start reading at `api/mod.rs`.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod access;
mod api;
mod app;
mod connections;
mod guard;
mod history;
mod hub;
mod mcp;
mod notify;
mod page;
mod problem;
mod serve;
mod services;
mod settings;
mod spent;
mod tls;
mod totals;

pub use access::{Access, Identity, Role, Token};
pub use problem::{Problem, Result};
pub use serve::{Server, Stop};
pub use services::{Services, WantedRun};
pub use settings::{Folders, Listen};
pub use tls::Tls;
