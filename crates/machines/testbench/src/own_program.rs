//! `program`: an environment that a program of the user controls. The program is started once for every operation,
//! reads one JSON object and writes one. `docs/testbench.md` describes the objects.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_activity::EffectClass;
use interlock_process::{How, Tell};
use interlock_sandbox::Network;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    Bench, Doing, Environment, Fault, FetchedFile, Operation, Profile, Ran, Reset, Start, Stop, Trouble, fetch,
    settings::Settings,
    tool::{Said, Tool},
};

/// The default time limit of an operation.
const OPERATION_SEC: u64 = 300;

/// The time that the program may take in addition to a start's time limit, to report the result.
const TELLING: Duration = Duration::from_secs(30);

/// A program that implements the environment contract.
#[derive(Clone, Debug)]
pub(crate) struct OwnProgram {
    words: Vec<String>,
    resources: Vec<String>,
    timeout: Duration,
    network: Option<Network>,
    write: Vec<PathBuf>,
    env: BTreeMap<String, String>,
}

/// The answer that reports a failure, possible for every operation.
#[derive(Deserialize)]
struct Failed {
    trouble: Kind,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Config,
    Environment,
    Runner,
}

#[derive(Deserialize)]
struct Nothing {}

#[derive(Deserialize)]
struct HealthAnswer {
    seen: String,
}

#[derive(Deserialize)]
struct Done {
    done: String,
}

#[derive(Deserialize)]
struct Files {
    files: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default = "any")]
    media_type: String,
    path: PathBuf,
}

fn any() -> String {
    "application/octet-stream".to_owned()
}

#[derive(Deserialize)]
struct RunAnswer {
    stop: Stop,
    #[serde(default)]
    logs: Vec<PathBuf>,
    #[serde(default)]
    reports: Vec<PathBuf>,
    #[serde(default)]
    artifacts: Vec<PathBuf>,
    #[serde(default)]
    faults: Vec<Fault>,
    #[serde(default)]
    coverage: BTreeMap<String, Vec<u32>>,
}

impl OwnProgram {
    /// Reads the program that a profile names.
    pub(crate) fn new(profile: &Profile) -> Result<Self, Trouble> {
        let mut from = Settings::new(&profile.config);
        let program: String = from.need("program")?;
        let args: Vec<String> = from.or("args", Vec::new())?;
        let network: Option<Network> = from.take("network")?;
        let seconds = from.or("timeout_sec", OPERATION_SEC)?;
        let this = OwnProgram {
            words: std::iter::once(program).chain(args).collect(),
            resources: from.or("resources", Vec::new())?,
            timeout: Duration::from_secs(seconds),
            network,
            write: from.or("write", Vec::new())?,
            env: from.or("env", BTreeMap::new())?,
        };
        // The other settings belong to the program, which receives the whole profile.
        let _: Option<Value> = from.take("settings")?;
        from.end()?;
        Ok(this)
    }

    fn tool(&self, bench: Bench<'_>, timeout: Duration) -> Tool {
        let mut words = self.words.clone();
        // A program given as a path is relative to the sources.
        if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
            *program = bench.session.sources.join(&program).display().to_string();
        }
        let mut tool = Tool::own(&words, timeout);
        (tool.network, tool.tell) = (self.network, Tell::Nothing);
        tool.write.clone_from(&self.write);
        tool.env.clone_from(&self.env);
        tool
    }

    async fn ask(&self, bench: Bench<'_>, timeout: Duration, question: &Value) -> Result<Said, Trouble> {
        let mut question = question.clone();
        question["session"] = serde_json::to_value(bench.session).map_err(Trouble::environment)?;
        let mut tool = self.tool(bench, timeout);
        tool.stdin = format!("{question}\n").into_bytes();
        tool.run(bench).await
    }

    /// Returns the answer of the program, within the default time limit.
    async fn answer<T: DeserializeOwned>(&self, bench: Bench<'_>, question: Value) -> Result<T, Trouble> {
        let said = self.ask(bench, self.timeout, &question).await?;
        self.read(&said, self.timeout)
    }

    fn read<T: DeserializeOwned>(&self, said: &Said, timeout: Duration) -> Result<T, Trouble> {
        let name = self.words.first().map(String::as_str).unwrap_or_default();
        if said.code() != Some(0) {
            return Err(Trouble::Runner(format!("`{name}` {}", said.why(timeout))));
        }
        let answer: Value = serde_json::from_slice(&said.stdout)
            .map_err(|error| Trouble::Runner(format!("`{name}` did not answer with one JSON object: {error}")))?;
        if answer.get("trouble").is_some() {
            let wrong = |error| Trouble::Runner(format!("`{name}` reported an unknown kind of trouble: {error}"));
            let Failed { trouble, message } = serde_json::from_value(answer).map_err(wrong)?;
            return Err(match trouble {
                Kind::Config => Trouble::config("settings", message),
                Kind::Environment => Trouble::Environment(message),
                Kind::Runner => Trouble::Runner(message),
            });
        }
        serde_json::from_value(answer)
            .map_err(|error| Trouble::Runner(format!("`{name}` gave an invalid answer: {error}")))
    }

    async fn run(&self, bench: Bench<'_>, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
        let begun = Instant::now();
        let question =
            json!({ "operation": "run", "start": start, "timeout_sec": start.timeout.as_secs_f64(), "folder": folder });
        let timeout = start.timeout + TELLING;
        let said = self.ask(bench, timeout, &question).await?;
        let told = match said.how {
            // The start used up its time. The files that it left are kept anyway.
            How::TimedOut => RunAnswer {
                stop: Stop::TimedOut,
                logs: fetch::files(folder)?,
                reports: Vec::new(),
                artifacts: Vec::new(),
                faults: Vec::new(),
                coverage: BTreeMap::new(),
            },
            _ => self.read::<RunAnswer>(&said, timeout)?,
        };
        for path in told.logs.iter().chain(&told.reports).chain(&told.artifacts) {
            within(folder, path)?;
        }
        Ok(Ran {
            start: start.clone(),
            stop: told.stop,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            logs: told.logs,
            reports: told.reports,
            artifacts: told.artifacts,
            faults: told.faults,
            coverage: told.coverage,
        })
    }

    async fn fetch(&self, bench: Bench<'_>, operation: &str, into: &str) -> Result<Vec<FetchedFile>, Trouble> {
        let folder = fetch::fresh(bench.session, into)?;
        let question = json!({ "operation": operation, "folder": &folder });
        let Files { files } = self.answer(bench, question).await?;
        let kept = |Named { name, media_type, path }: Named| {
            let path = within(&folder, &path)?;
            Ok(FetchedFile { name, media_type, path })
        };
        files.into_iter().map(kept).collect()
    }
}

/// Returns the full path of a file that must be inside a directory.
fn within(folder: &Path, path: &Path) -> Result<PathBuf, Trouble> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let file = folder.join(path);
    match is_plain && file.is_file() {
        true => Ok(file),
        false => Err(Trouble::Runner(format!("`{}` is not a file within {}", path.display(), folder.display()))),
    }
}

impl Environment for OwnProgram {
    fn effect(&self, operation: Operation) -> EffectClass {
        match operation {
            Operation::HealthCheck | Operation::Fetch => EffectClass::Read,
            _ => EffectClass::External,
        }
    }

    fn resources(&self) -> Vec<String> {
        self.resources.clone()
    }

    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            let Nothing {} = self.answer(bench, json!({ "operation": "setup" })).await?;
            Ok(())
        })
    }

    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            let Nothing {} = self.answer(bench, json!({ "operation": "deploy" })).await?;
            Ok(())
        })
    }

    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String> {
        Box::pin(async move {
            let HealthAnswer { seen } = self.answer(bench, json!({ "operation": "health_check" })).await?;
            Ok(seen)
        })
    }

    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(self.run(bench, start, folder))
    }

    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "fetch_logs", "logs"))
    }

    fn fetch_artifacts<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(self.fetch(bench, "fetch_artifacts", "artifacts"))
    }

    fn reset<'a>(&'a self, bench: Bench<'a>, how: Reset) -> Doing<'a, String> {
        Box::pin(async move {
            let Done { done } = self.answer(bench, json!({ "operation": "reset", "how": how })).await?;
            Ok(done)
        })
    }

    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            let Nothing {} = self.answer(bench, json!({ "operation": "teardown" })).await?;
            Ok(())
        })
    }
}
