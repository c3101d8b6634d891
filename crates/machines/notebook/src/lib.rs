//! Notebooks: real Jupyter kernels, nbformat documents, and the activity `notebook.action` that works on both.
//!
//! - `kernel` starts a kernel in the sandbox and executes cells over the Jupyter protocol;
//! - `document` edits a notebook file without touching the cells that it did not write;
//! - `output` collects the output of a cell, with a bound for everything;
//! - `action` carries out one action of a behavior: add a cell, execute one, write a heading.
//!
//! A kernel belongs to a run (`sessions`), not to one attempt. This crate does not know who plans the work: the
//! protocol between planner, generator and machine is another crate's.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod action;
mod activity;
mod document;
mod kernel;
mod output;
mod recorded;
mod saved;
mod sessions;
mod story;
mod variables;
mod written;

pub use activity::NotebookAction;
