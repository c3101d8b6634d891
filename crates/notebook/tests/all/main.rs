//! `notebook.action` on real kernels: ipykernel and bash_kernel, in the sandbox.

mod actions;
mod cells;
mod documents;
mod lifetime;
mod trial;
