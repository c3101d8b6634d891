//! Coding agents: the overhead of a turn against the agent alone, the memory of the program with a long transcript, and
//! many agents that one process waits for.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_activity::{
    model_server::{ModelServer, Step, agent_model},
    real_agents::{RealAgent, installed},
};

use crate::{Result, size};

/// The pairs of turns that are compared.
const PAIRS: usize = size(20, 1);

/// The sizes of repositories, with the wanted overhead in milliseconds.
const SIZES: [(usize, u32); 2] = [(size(5_000, 20), 250), (size(50_000, 40), 800)];

/// The number of files per directory.
const FOLDER_FILES: usize = 50;

/// The sizes of transcripts, in megabytes.
const TRANSCRIPTS: [usize; 2] = [size(10, 1), size(500, 2)];

/// The agents that one process waits for.
const CROWD: usize = size(50, 3);

/// The time that a process has.
const PATIENCE: Duration = Duration::from_secs(600);

const MACHINE: &str = r#"
machine: turns
version: 1
summary: Prompts an agent whenever it is told to.
events: { go: { from: user, summary: Begin } }
initial: waiting
states:
  waiting: { on: { go: working } }
  working:
    invoke: { activity: agent.prompt, with: { text: say hello }, signals: [turn_ended] }
    on:
      turn_ended: waiting
      error: { target: bad, reason: "${event.message}" }
  bad: { type: final, outcome: failure }
"#;

/// Prints one line per measurement.
pub(crate) fn report() -> Result<()> {
    let Some(program) = crate::program("agents")? else { return Ok(()) };
    match installed() {
        Some(agents) => SIZES.iter().try_for_each(|(files, wanted)| turns(&program, &agents, *files, *wanted))?,
        None => println!("agents   no turns are measured: run scripts/agents.sh"),
    }
    memory(&program)?;
    crowd(&program)
}

/// A store, and a repository for each run.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn new(program: &Path, settings: &str) -> Result<Self> {
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
        let home = folder.path().join("home");
        fs::create_dir(&home)?;
        fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        fs::write(home.join("agents.toml"), settings)?;
        fs::write(folder.path().join("turns.yaml"), MACHINE)?;
        Ok(Place { folder, program: program.to_owned() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env("INTERLOCK_HOME", self.path("home"));
        command.env("XDG_CACHE_HOME", self.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Starts a run in a repository with this many files. It waits for `go`, which is exit code 4.
    fn begin(&self, run: &str, files: usize) -> Result<PathBuf> {
        let work = self.path(&format!("work-{run}"));
        fs::create_dir(&work)?;
        for number in 0..files {
            let folder = work.join(format!("folder-{}", number / FOLDER_FILES));
            if number % FOLDER_FILES == 0 {
                fs::create_dir(&folder)?;
            }
            fs::write(folder.join(format!("file-{number}.txt")), format!("file {number}\n"))?;
        }
        let script =
            "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first";
        if !Command::new("sh").args(["-c", script]).current_dir(&work).status()?.success() {
            return Err("the repository could not be made".into());
        }
        let repo = work.display().to_string();
        self.command(&["run", "turns.yaml", "--unproved", "--repo", &repo, "--name", run]).status()?;
        Ok(work)
    }

    /// Lets the run take one turn, and returns the time of the whole command.
    fn turn(&self, run: &str) -> Result<Duration> {
        let begun = Instant::now();
        // A run that waits for a person ends with code 4.
        match self.command(&["send", run, "go"]).status()?.code() {
            Some(4) => Ok(begun.elapsed()),
            code => Err(format!("a turn of {run} ended with {code:?}").into()),
        }
    }
}

/// Compares turns of goose through the program with goose alone, in turns.
fn turns(program: &Path, agents: &Path, files: usize, wanted: u32) -> Result<()> {
    let model = agent_model(vec![("say hello", vec![Step::shell("echo hello > hello.txt"), Step::say("Done.")])]);
    let place = Place::new(program, &RealAgent::Goose.settings("goose", agents, &model.url, ""))?;
    let work = place.begin("r", files)?;
    place.turn("r")?;
    goose(&place, &model, agents, &work)?;
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        alone.push(goose(&place, &model, agents, &work)?);
        ours.push(place.turn("r")?);
    }
    let (ours, alone) = (median(&mut ours), median(&mut alone));
    println!(
        "agents   {:>8.0} ms more for a turn of goose in {files} files (wanted {wanted}): {ours:.0} ms against {alone:.0} ms alone",
        ours - alone
    );
    Ok(())
}

/// Runs goose alone on the same prompt, and returns its time.
fn goose(place: &Place, model: &ModelServer, agents: &Path, work: &Path) -> Result<Duration> {
    let mut command = Command::new(agents.join("bin/goose"));
    command.args(["run", "-t", "say hello", "--no-session", "--with-builtin", "developer"]).current_dir(work);
    command.env_clear().env("HOME", place.path("goose")).env("PATH", "/usr/bin:/bin");
    command.envs([("GOOSE_PROVIDER", "openai"), ("GOOSE_MODEL", "scripted"), ("OPENAI_API_KEY", "dummy")]);
    command.envs([("GOOSE_DISABLE_KEYRING", "1"), ("GOOSE_MODE", "auto"), ("OPENAI_HOST", &model.url)]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    match command.status()?.success() {
        true => Ok(begun.elapsed()),
        false => Err("goose alone failed".into()),
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

/// Measures the peak memory of the program with a short and a long transcript.
fn memory(program: &Path) -> Result<()> {
    let mut line = String::new();
    for megabytes in TRANSCRIPTS {
        let place = Place::new(program, "")?;
        // Lines of 1,000 bytes, as an agent sends them.
        let script = format!(
            "import json, sys\nsys.stdin.readline()\nline = json.dumps({{'type': 'message', 'id': 'm', 'text': 'word ' * 190}})\n\
             for _ in range({megabytes} * 1000):\n    print(line)\nprint(json.dumps({{'type': 'end', 'reason': 'done'}}), flush=True)\n"
        );
        fs::write(place.path("agent.py"), script)?;
        let agent = place.path("agent.py").display().to_string();
        let settings = format!("[agents.long]\ndriver = \"command\"\ncommand = [\"python3\", {agent:?}]\n");
        fs::write(place.path("home/agents.toml"), settings)?;
        place.begin("r", 10)?;
        let begun = Instant::now();
        let (peak, code) = peak_mib(place.command(&["send", "r", "go"]).spawn()?)?;
        if code != Some(4) {
            return Err(format!("the turn with {megabytes} MB ended with {code:?}").into());
        }
        let separator = if line.is_empty() { "" } else { ", " };
        write!(line, "{separator}{peak} MiB with {megabytes} MB ({:.1} s)", begun.elapsed().as_secs_f64())?;
    }
    println!("agents   memory at a turn's transcript: {line}");
    Ok(())
}

/// Waits for the end of a process, and returns its peak memory and its exit code.
fn peak_mib(mut process: Child) -> Result<(u64, Option<i32>)> {
    let (file, limit) = (format!("/proc/{}/status", process.id()), Instant::now() + PATIENCE);
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(&file).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) / 1_024);
        if let Some(ended) = process.try_wait()? {
            return Ok((peak, ended.code()));
        }
        if Instant::now() > limit {
            process.kill()?;
            return Err("the process does not end".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Measures one process that waits for many agents at once.
fn crowd(program: &Path) -> Result<()> {
    let place = Place::new(program, "")?;
    let agent = place.path("agent.sh");
    // Each agent says that it has begun and waits until all have.
    let script = "read -r prompt\necho begun > begun.txt\nuntil test -e go.txt; do sleep 0.2; done\n\
                  echo '{\"type\":\"end\",\"reason\":\"done\"}'\n";
    fs::write(&agent, script)?;
    let settings =
        format!("[agents.slow]\ndriver = \"command\"\ncommand = [\"sh\", {:?}]\n", agent.display().to_string());
    fs::write(place.path("home/agents.toml"), settings)?;
    let mut works = Vec::new();
    for at in 0..CROWD {
        let run = format!("r{at}");
        works.push(place.begin(&run, 10)?);
        place.command(&["send", &run, "go", "--no-follow"]).status()?;
    }
    let begun = Instant::now();
    let process = place.command(&["resume"]).spawn()?;
    while works.iter().any(|work| !work.join("begun.txt").exists()) {
        if begun.elapsed() > PATIENCE {
            return Err("not all agents begin".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let all_wait = begun.elapsed();
    works.iter().try_for_each(|work| fs::write(work.join("go.txt"), ""))?;
    let (peak, _) = peak_mib(process)?;
    println!(
        "agents   {:>8.1} s until one process waits for {CROWD} agents, {:.1} s until all are done, {peak} MiB",
        all_wait.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
