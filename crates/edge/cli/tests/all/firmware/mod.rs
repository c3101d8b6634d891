//! End-to-end tests of the firmware machine: the real program, real git, a real cross compiler and real QEMU. Models
//! are scripted servers that speak the real protocol.

mod bench;
mod boards;
mod breaker;
mod delivery;
mod endings;
mod endless;
mod figures;
mod fixes;
mod input;
mod learning;
mod local;
mod scene;
mod silent;
mod timeouts;
mod trouble;
mod unusable;
