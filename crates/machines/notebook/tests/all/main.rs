//! `notebook.action` on real kernels: ipykernel and bash_kernel, in the sandbox.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod trial;

#[path = "actions.rs"]
mod heavy_actions;
#[path = "attacks.rs"]
mod heavy_attacks;
#[path = "cells.rs"]
mod heavy_cells;
#[path = "documents.rs"]
mod heavy_documents;
#[path = "forms.rs"]
mod heavy_forms;
#[path = "lifetime.rs"]
mod heavy_lifetime;
