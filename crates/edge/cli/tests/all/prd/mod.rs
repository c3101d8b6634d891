//! The machine `prd` on real projects: real git, real commands in the real sandbox. The test takes the place of the
//! coding agent: it edits files and sends the agent's signal.

mod blocked;
mod crash;
mod flow;
mod scene;
mod views;
