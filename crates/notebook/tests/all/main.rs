//! `notebook.action` on real kernels: ipykernel and bash_kernel, in the sandbox.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod actions;
mod attacks;
mod cells;
mod documents;
mod forms;
mod lifetime;
mod trial;
