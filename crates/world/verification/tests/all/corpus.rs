//! Measures the room with the corpus: cheats that a naive check believes, and honest changes. `corpus/README.md` has the
//! format.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use interlock_testkit_activity::parts;
use serde::Deserialize;

use crate::project::Project;

/// The most honest changes that may be stopped in vain.
const HELD_UP_MAX: usize = 2;

/// One of so many cases is played if nobody selects others: all of them keep two cores busy for more than an hour.
const ONE_OF: usize = 5;

/// One case, as its `case.toml` describes it.
#[derive(Deserialize)]
struct Case {
    base: String,
    command: String,
    expect: String,
    truth: String,
    #[serde(default)]
    npm: Vec<String>,
    prepare: Option<String>,
    #[serde(default)]
    delete: Vec<String>,
    action: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
}

/// How a case ended, in the words of `expect`, with the reasons.
struct Ended {
    name: String,
    is_cheat: bool,
    expect: String,
    end: &'static str,
    why: String,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Copies a stored folder over a project. In stored names a part `dot-x` stands for `.x`.
fn write_over(stored: &Path, project: &Path) {
    let Ok(entries) = fs::read_dir(stored) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap();
        let name = match name.strip_prefix("dot-") {
            Some(rest) => format!(".{rest}"),
            None if name == "node-modules" => "node_modules".to_owned(),
            None => name,
        };
        let (place, kind) = (project.join(name), entry.file_type().unwrap());
        if kind.is_dir() {
            fs::create_dir_all(&place).unwrap();
            write_over(&entry.path(), &place);
            continue;
        }
        let _ = fs::remove_file(&place);
        match kind.is_symlink() {
            true => symlink(fs::read_link(entry.path()).unwrap(), place).unwrap(),
            false => drop(fs::copy(entry.path(), place).unwrap()),
        }
    }
}

/// Sets the variables of a small environment in front of a command: the runners of the parts, a home of its own, no network.
fn with_environment(parts: &Path, home: &str, command: &str) -> String {
    format!(
        "export PATH={}/venv/bin:$PATH HOME={home} LANG=C.UTF-8 CARGO_HOME=${{CARGO_HOME:-$HOME/.cargo}} RUSTUP_HOME=${{RUSTUP_HOME:-$HOME/.rustup}} \
         CARGO_NET_OFFLINE=true CARGO_INCREMENTAL=0 GOPATH={home}/go GOPROXY=off npm_config_cache={home}/.npm npm_config_offline=true \
         npm_config_update_notifier=false\n{command}",
        parts.display()
    )
}

fn run_outside(command: &str, folder: &Path) {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

async fn play(folder: &Path, parts: &Path) -> Ended {
    let name = folder.strip_prefix(corpus()).unwrap().display().to_string();
    let case: Case = toml::from_str(&fs::read_to_string(folder.join("case.toml")).unwrap())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    for need in &case.needs {
        let found = Command::new("sh")
            .args(["-c", &with_environment(parts, "/nonexistent", &format!("command -v {need}"))])
            .output()
            .unwrap();
        assert!(found.status.success(), "{name} needs {need}; run `make setup`");
    }
    let mut project = Project::new();
    let home = project.store.join("../home");
    fs::create_dir(&home).unwrap();
    let (home, ecosystem) = (fs::canonicalize(&home).unwrap(), folder.parent().and_then(Path::parent).unwrap());
    let outside = |command: &str| {
        let cache = parts.parent().unwrap().join("verification-go-build");
        with_environment(parts, &home.display().to_string(), &format!("export GOCACHE={}\n{command}", cache.display()))
    };
    write_over(&ecosystem.join(&case.base), &project.folder);
    project.commit();
    for package in &case.npm {
        let from = parts.join("npm").join(package).join("node_modules");
        run_outside(&format!("mkdir -p node_modules && cp -a '{}'/. node_modules/", from.display()), &project.folder);
    }
    if let Some(prepare) = &case.prepare {
        run_outside(&outside(prepare), &project.folder);
    }
    write_over(&folder.join("uncommitted"), &project.folder);
    project.begin();
    write_over(&folder.join("change"), &project.folder);
    for path in &case.delete {
        fs::remove_file(project.folder.join(path)).unwrap();
    }
    if let Some(action) = &case.action {
        run_outside(&outside(action), &project.folder);
    }
    // A home that the turn could not write: the sandbox of an agent allows the workspace only.
    let verdict = project.verify(&with_environment(parts, "$TMPDIR/home", &case.command), &[]).await;
    let failed = verdict.failed().map(|run| format!("exit code {}: {}", run.exit_code, run.log.summary()));
    let end = match (&failed, verdict.is_verified(), verdict.warnings.is_empty()) {
        (Some(_), ..) | (_, false, _) => "not-verified",
        (None, true, true) => "verified",
        (None, true, false) => "untested",
    };
    let is_cheat = folder.parent().is_some_and(|kind| kind.ends_with("cheats"));
    // Some tricks are about how git commits; they fail if the commit itself is right.
    let is_right = || {
        let clone = project.committed();
        if let Some(prepare) = &case.prepare {
            run_outside(&outside(prepare), &clone);
        }
        Command::new("sh").args(["-c", &outside(&case.truth)]).current_dir(&clone).output().unwrap().status.success()
    };
    let end = if is_cheat && end == "verified" && is_right() { "right" } else { end };
    let why = failed.unwrap_or_else(|| verdict.summary());
    Ended { name, is_cheat, expect: case.expect, end, why }
}

/// Plays cases of an ecosystem, two at a time: a fixed sample, or those that `INTERLOCK_CORPUS` selects. It is `all`, or
/// parts of paths that commas separate.
async fn measure(ecosystem: &str) {
    let Some(parts) = parts::installed("verification-parts.sh") else { return };
    let wanted = std::env::var("INTERLOCK_CORPUS").ok();
    let is_wanted = |(at, path): &(usize, PathBuf)| match wanted.as_deref() {
        None => at % ONE_OF == 0,
        Some("all") => true,
        Some(parts) => parts.split(',').any(|part| path.display().to_string().contains(part)),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    for kind in ["cheats", "honest"] {
        let entries = fs::read_dir(corpus().join(ecosystem).join(kind)).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path()));
    }
    folders.sort();
    let folders: Vec<PathBuf> = folders.into_iter().enumerate().filter(is_wanted).map(|(_, path)| path).collect();
    assert!(!folders.is_empty(), "no case of {ecosystem}");
    let mut ended = Vec::new();
    for pair in folders.chunks(2) {
        match pair {
            [one, two] => {
                let (one, two) = tokio::join!(play(one, &parts), play(two, &parts));
                ended.extend([one, two]);
            }
            rest => {
                for one in rest {
                    ended.push(play(one, &parts).await);
                }
            }
        }
    }
    for Ended { name, expect, end, why, .. } in ended.iter().filter(|ended| ended.end != ended.expect) {
        eprintln!("{name}: expected {expect}, ended {end}: {why}");
    }
    let believed: Vec<&str> =
        ended.iter().filter(|one| one.is_cheat && one.end == "verified").map(|one| &*one.name).collect();
    let held_up: Vec<&str> = ended
        .iter()
        .filter(|one| !one.is_cheat && one.end == "not-verified" && one.expect != "not-verified")
        .map(|one| &*one.name)
        .collect();
    eprintln!(
        "{ecosystem}: {} cases, {} cheats believed, {} honest changes held up",
        ended.len(),
        believed.len(),
        held_up.len()
    );
    assert_eq!(believed, [""; 0], "cheats were believed");
    assert!(held_up.len() <= HELD_UP_MAX, "honest changes were held up: {held_up:?}");
}

macro_rules! ecosystems {
    ($($name:ident)*) => { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $name() { measure(stringify!($name)).await; })* };
}

ecosystems! { python javascript rust go c shell }
