//! The tools on real files, with real git and a real sandbox, without a run.

mod catalogue;
mod commands;
mod history;
mod reading;
mod several;
mod trial;
mod writing;
