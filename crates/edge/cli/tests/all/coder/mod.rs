//! The machine `coder` with a scripted model: whole turns through the binary.

mod commits;
mod compare;
mod conversation;
mod driver;
mod editor;
mod grants;
mod keys;
mod killed;
mod network;
mod refusals;
mod scene;
mod trouble;
mod truth;
mod turns;

#[path = "tasks.rs"]
mod heavy_tasks;
