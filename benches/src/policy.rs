//! Measures the time of a policy decision.

use std::time::{Duration, Instant};

use interlock_policy::{Command, FileChange, Patch, PathOp, Policy, Request, View, decide};

use crate::{Result, size};

const ROUNDS: usize = size(20, 1);

/// The number of decisions per round.
const DECISIONS: u32 = size(200, 2) as u32;

const COMMANDS: [&str; 8] = [
    "make test",
    "cargo test -p core --all-features",
    "cd build && cmake .. -DCMAKE_BUILD_TYPE=Debug && make -j4 2>&1 | tee build.log",
    "for f in src/*.c; do gcc -c \"$f\" -o \"build/$(basename \"$f\" .c).o\" || exit 1; done",
    "find . -name '*.pyc' -exec rm -f {} +",
    "git status && git diff HEAD~1 -- src/main.c | head -50",
    "env A=b sh -c 'echo \"$(cat README.md)\" | xargs -n1 grep -rn TODO'",
    "npm install left-pad && npm test",
];

/// Decides everyday requests with the default policy. The slowest decision counts, because a person waits for it.
pub(crate) fn report() -> Result<()> {
    let policy = Policy::builtin();
    let view = View { has_snapshot: true, ..View::plain("/home/ada/project") };
    let requests = requests();
    let times: Vec<Duration> = requests.iter().map(|request| best(request, &view, policy)).collect();
    let most = times.iter().max().copied().unwrap_or_default();
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len())?;
    let (most, mean) = (most.as_secs_f64() * 1e6, mean.as_secs_f64() * 1e6);
    println!("policy   {most:>8.3} µs for the slowest of {} decisions, {mean:.3} on average (wanted 50)", times.len());
    Ok(())
}

fn best(request: &Request, view: &View<'_>, policy: &Policy) -> Duration {
    let round = || {
        let begin = Instant::now();
        for _ in 0..DECISIONS {
            std::hint::black_box(decide(std::hint::black_box(request), view, policy));
        }
        begin.elapsed() / DECISIONS
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn requests() -> Vec<Request> {
    let commands = COMMANDS.iter().map(|text| Request::Command(Command::Shell((*text).to_owned())));
    let path = |op, path: &str| Request::Path { op, path: path.to_owned() };
    let change = |number: usize| FileChange {
        path: format!("src/file_{number}.c"),
        kind: interlock_policy::ChangeKind::Modified,
        added: vec!["    int x = 4;".to_owned(); 20],
        removed: vec!["    int x = 3;".to_owned(); 20],
    };
    let others = [
        path(PathOp::Write, "src/deep/in/the/tree/main.c"),
        path(PathOp::Read, "/usr/include/stdio.h"),
        Request::Connect { host: "example.com".to_owned(), port: Some(443) },
        Request::Patch(Patch { files: (0..5).map(change).collect() }),
    ];
    commands.chain(others).collect()
}
