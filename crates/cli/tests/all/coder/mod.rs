//! The machine `coder` with a scripted model: whole turns through the binary.

mod conversation;
mod driver;
mod editor;
mod killed;
mod scene;
mod tasks;
mod trouble;
mod turns;
