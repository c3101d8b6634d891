//! Real coding agents in runs of the binary. Their model plays a script.

mod brain;
mod fix;
mod prd;
mod scene;
mod secrets;
mod templates;
