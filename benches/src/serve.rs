//! The server: the first page of many runs, the way of a record to a reader of events, its cost while nothing happens, a
//! minute of many requests, and the page of a very long run in a browser.

mod long;

use std::{
    io::{BufRead, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{Result, size};

/// The runs that wait for a person.
const RUNS: usize = size(10_000, 100);

/// The records whose way to a reader is timed.
const NOTICES: usize = size(200, 5);

/// The number of requests for a page of the list.
const PAGES: usize = size(50, 2);

/// The time for which the idle server is watched.
const IDLE: Duration = Duration::from_millis(size(10_000, 100) as u64);

/// The requests of the load, and their rate: one in twenty writes.
const REQUESTS: usize = size(18_000, 60);
const REQUESTS_PER_SECOND: u64 = 300;

/// The clients that send them.
const CLIENTS: usize = 12;

const MACHINE: &str = "machine: wait\nversion: 1\nsummary: Waits.\nevents: { tick: { from: user, summary: Go round } }\n\
     initial: waiting\nstates: { waiting: { tags: [idle], on: { tick: { target: waiting, limit: 1000000 } } } }\n";

/// Measures a server with many waiting runs.
pub(crate) fn report() -> Result<()> {
    let Some(program) = crate::program("serve")? else { return Ok(()) };
    let server = Server::start(&program)?;
    let begun = Instant::now();
    for at in 0..RUNS {
        server
            .post("/runs", &format!("{{\"machine\":\"wait\",\"folder\":{:?},\"name\":\"w{at}\"}}", server.project()))?;
    }
    let started = begun.elapsed();
    let mut pages = timed(PAGES, || server.get("/runs").map(drop))?;
    let mut notices = server.notices()?;
    let (memory, share) = server.idle()?;
    println!(
        "serve    {:>8.1} ms first page of {RUNS} runs (median of {PAGES}), {:.2} ms to start a run",
        median(&mut pages),
        started.as_secs_f64() * 1e3 / RUNS as f64
    );
    notices.sort_by(f64::total_cmp);
    let late = notices[notices.len() * 95 / 100];
    println!(
        "         {:>8.1} ms from a request that adds a record to a reader's event (median), 95 %: {late:.1} ms",
        median(&mut notices)
    );
    let (sent, mut answers, wrong) = server.load();
    let late_answer = {
        answers.sort_by(f64::total_cmp);
        answers.get(answers.len() * 95 / 100).copied().unwrap_or_default()
    };
    println!("         {memory:>8.1} MB and {share:.2} % of a core while {RUNS} runs wait and nothing happens");
    println!(
        "         {:>8.0} requests a second for {:.0} s, 5 % writes: {} errors, 95 % answered within {late_answer:.1} ms",
        REQUESTS as f64 / sent.as_secs_f64(),
        sent.as_secs_f64(),
        wrong.len()
    );
    wrong.iter().take(3).for_each(|wrong| println!("         {wrong}"));
    long::report(&server)
}

fn timed(times: usize, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
    (0..times)
        .map(|_| -> Result<f64> {
            let begun = Instant::now();
            work()?;
            Ok(begun.elapsed().as_secs_f64() * 1e3)
        })
        .collect()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server on a store of its own.
struct Server {
    folder: tempfile::TempDir,
    child: Child,
    address: String,
    /// The link that logs a browser in.
    link: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
        let here = folder.path().canonicalize()?;
        let machines = here.join("project/.interlock/machines/wait");
        std::fs::create_dir_all(&machines)?;
        std::fs::write(machines.join("machine.yaml"), MACHINE)?;
        let command = |arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&here).env("INTERLOCK_HOME", here.join("home"));
            command
        };
        let added = command(&["token", "add", "bench", "--role", "operator"]).output()?;
        let token = String::from_utf8(added.stdout)?.trim().to_owned();
        let mut child =
            command(&["serve", "--listen", "127.0.0.1:0", "--folder", "project"]).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no messages")?).lines();
        let link = lines.next().ok_or("the server said nothing")??;
        let address = link.split("//").nth(1).and_then(|rest| rest.split('/').next()).ok_or("no address")?.to_owned();
        let link = link.trim_start_matches("Open ").to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Server { folder, child, address, link, token })
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn project(&self) -> String {
        self.folder.path().join("project").display().to_string()
    }

    fn send(&self, head: &str, body: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let (address, token) = (&self.address, &self.token);
        let text = format!(
            "{head} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    fn read(&self, head: &str, body: &str) -> Result<String> {
        let mut text = String::new();
        self.send(head, body)?.read_to_string(&mut text)?;
        match text.starts_with("HTTP/1.1 2") {
            true => Ok(text),
            false => Err(text.into()),
        }
    }

    fn get(&self, path: &str) -> Result<String> {
        self.read(&format!("GET /api/v1{path}"), "")
    }

    fn post(&self, path: &str, body: &str) -> Result<String> {
        self.read(&format!("POST /api/v1{path}"), body)
    }

    /// Times the way of records to a reader, in milliseconds, spread over 100 runs.
    fn notices(&self) -> Result<Vec<f64>> {
        let mut events = BufReader::new(self.send("GET /api/v1/events", "")?);
        let mut until = |wanted: &str| -> Result<()> {
            let mut line = String::new();
            loop {
                line.clear();
                if events.read_line(&mut line)? == 0 {
                    return Err("the events have ended".into());
                }
                if line.starts_with("data: ") && line.contains(wanted) {
                    return Ok(());
                }
            }
        };
        until("number")?;
        let mut times = Vec::new();
        for at in 0..NOTICES {
            let run = format!("w{}", at % 100);
            let begun = Instant::now();
            let answer = self.send(&format!("POST /api/v1/runs/{run}/events"), "{\"event\":\"tick\"}")?;
            until(&format!("\"run\":\"{run}\""))?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            drop(answer);
        }
        Ok(times)
    }

    /// Sends many requests at a steady rate. Returns the time that it took, the times of the answers in milliseconds, and
    /// the errors.
    fn load(&self) -> (Duration, Vec<f64>, Vec<String>) {
        let (next, times, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= REQUESTS {
                            return;
                        }
                        let due = begun + Duration::from_micros(at as u64 * 1_000_000 / REQUESTS_PER_SECOND);
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        let asked = Instant::now();
                        let answer = self.one_of_load(at);
                        let taken = asked.elapsed().as_secs_f64() * 1e3;
                        times.lock().unwrap_or_else(PoisonError::into_inner).push(taken);
                        if let Err(error) = answer {
                            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
                        }
                    }
                });
            }
        });
        let taken = begun.elapsed();
        let all = |list: Mutex<Vec<f64>>| list.into_inner().unwrap_or_else(PoisonError::into_inner);
        (taken, all(times), wrong.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn one_of_load(&self, at: usize) -> Result<String> {
        let run = at % 100;
        match at % 20 {
            0 => self.post(&format!("/runs/w{run}/events"), "{\"event\":\"tick\"}"),
            kind if kind % 4 == 0 => self.get("/runs"),
            kind if kind % 4 == 1 => self.get(&format!("/runs/w{run}")),
            kind if kind % 4 == 2 => self.get(&format!("/runs/w{run}/trace?from=-20")),
            _ => self.get("/inbox?count=true"),
        }
    }

    /// Returns the memory in megabytes, and the share of a core in percent, while nothing happens.
    fn idle(&self) -> Result<(f64, f64)> {
        let ticks = |id: u32| -> Result<f64> {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            Ok(fields.get(11).ok_or("no time")?.parse::<f64>()? + fields.get(12).ok_or("no time")?.parse::<f64>()?)
        };
        let before = ticks(self.child.id())?;
        std::thread::sleep(IDLE);
        let used = (ticks(self.child.id())? - before) / 100.0;
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let memory: f64 = memory.ok_or("no memory")?.trim().parse()?;
        Ok((memory / 1024.0, used / IDLE.as_secs_f64() * 100.0))
    }
}
