use std::{future::Future, pin::Pin};

use crate::{Fault, Reply, settings::Command};

/// A value that is there later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who asks: it has a clock, shows people the answer while it arrives, and can start a program that acts as a judge.
pub trait Asker: Send + Sync {
    /// The current time, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns when this much time has passed.
    fn sleep(&self, ms: u64) -> Later<'_, ()>;

    /// Shows a text to the people who watch. It may contain secrets.
    fn show(&self, text: &str);

    /// Runs a program with this question on its stdin; the reply has the text that it printed.
    fn run<'a>(&'a self, command: &'a Command, question: String) -> Later<'a, Result<Reply, Fault>>;
}
