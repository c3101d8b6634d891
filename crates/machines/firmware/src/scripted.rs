//! An environment for tests: every start prints the next text of a script. It records the operations in their order.

use std::{collections::VecDeque, fs, path::Path, sync::Mutex};

use interlock_activity::EffectClass;
use interlock_testbench::{Bench, Doing, Environment, FetchedFile, Operation, Ran, Reset, Start, Stop, Trouble};

/// The name of the file with the printed text of a start.
const LOG: &str = "stdout.log";

/// The environment. The last text repeats.
#[derive(Default)]
pub(crate) struct Scripted {
    prints: Mutex<VecDeque<&'static str>>,
    /// The operation that fails, with its message.
    fails: Option<(&'static str, &'static str)>,
    done: Mutex<Vec<String>>,
}

impl Scripted {
    /// Creates an environment whose starts print these texts.
    pub(crate) fn printing(prints: &[&'static str]) -> Self {
        Scripted { prints: Mutex::new(prints.iter().copied().collect()), ..Scripted::default() }
    }

    /// Lets one operation fail.
    pub(crate) fn failing(self, operation: &'static str, why: &'static str) -> Self {
        Scripted { fails: Some((operation, why)), ..self }
    }

    /// Returns the operations so far. Equal operations in a row are counted once.
    pub(crate) fn done(&self) -> Vec<String> {
        let mut done = self.done.lock().unwrap().clone();
        done.dedup();
        done
    }

    /// Returns the number of starts so far.
    pub(crate) fn starts(&self) -> usize {
        self.done.lock().unwrap().iter().filter(|one| *one == "run").count()
    }

    fn act<T>(&self, operation: &str, result: T) -> Result<T, Trouble> {
        self.done.lock().unwrap().push(operation.to_owned());
        match self.fails {
            Some((failing, why)) if failing == operation => Err(Trouble::environment(why)),
            _ => Ok(result),
        }
    }

    fn ran(&self, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
        self.act("run", ())?;
        let mut prints = self.prints.lock().unwrap();
        let text = if prints.len() > 1 { prints.pop_front() } else { prints.front().copied() };
        let text = text.unwrap_or_default();
        fs::write(folder.join(LOG), text)?;
        Ok(Ran {
            start: start.clone(),
            stop: Stop::Exited { code: i64::from(text.contains("not ok")) },
            duration_ms: 1,
            logs: vec![LOG.into()],
            reports: Vec::new(),
            artifacts: Vec::new(),
            faults: Vec::new(),
            coverage: Default::default(),
        })
    }
}

impl Environment for Scripted {
    fn effect(&self, _: Operation) -> EffectClass {
        EffectClass::Read
    }

    fn setup<'a>(&'a self, _: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async { self.act("setup", ()) })
    }

    fn deploy<'a>(&'a self, _: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async { self.act("deploy", ()) })
    }

    fn health_check<'a>(&'a self, _: Bench<'a>) -> Doing<'a, String> {
        Box::pin(async { self.act("health", "well".to_owned()) })
    }

    fn run<'a>(&'a self, _: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(async move { self.ran(start, folder) })
    }

    fn fetch_logs<'a>(&'a self, _: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async { self.act("logs", Vec::new()) })
    }

    fn fetch_artifacts<'a>(&'a self, _: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async { self.act("artifacts", Vec::new()) })
    }

    fn reset<'a>(&'a self, _: Bench<'a>, how: Reset) -> Doing<'a, String> {
        Box::pin(async move { self.act(if how == Reset::Restart { "restart" } else { "reset" }, String::new()) })
    }

    fn teardown<'a>(&'a self, _: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async { self.act("teardown", ()) })
    }
}
