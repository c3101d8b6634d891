//! The machine `coder` with a scripted model: whole turns through the binary.

mod killed;
mod scene;
mod trouble;
mod turns;
