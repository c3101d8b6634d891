//! The machine `coder` with a scripted model: whole turns through the binary.

mod scene;
mod trouble;
mod turns;
