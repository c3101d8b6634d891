//! The machine `coder` with a scripted model: whole turns through the binary.

mod compare;
mod conversation;
mod driver;
mod editor;
mod grants;
mod killed;
mod network;
mod scene;
mod trouble;
mod turns;

#[path = "tasks.rs"]
mod heavy_tasks;
