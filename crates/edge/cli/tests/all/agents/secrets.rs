//! Twenty secrets that an agent is given, reads or prints: none is in the store, and none is left in its home.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::json;

use super::scene::Scene;

/// Secrets that are recognised by their form, in two halves, so that no source contains a whole one.
const FORMS: [(&str, &str); 8] = [
    ("ghp_FAKE0fake1FAKE2fake3", "FAKE4fake5FAKE6fake7FAKE8"),
    ("sk-ant-api03-FAKE0fake1FAKE2", "fake3FAKE4fake5FAKE6"),
    ("AKIAFAKEFAKE", "FAKEFAKE"),
    ("glpat-FAKE0fake1", "FAKE2fake3x"),
    ("xoxb-123456789012-", "123456789012-FAKE0fake1FAKE2fake3FAKE"),
    ("github_pat_FAKE0fake1FAKE2fake3_", "FAKE4fake5FAKE6fake7FAKE8FAKE4fake5FAKE6fake7FAKE8FAKE4fake"),
    ("npm_FAKE0fake1FAKE2fake3", "FAKE4fake5FAKE67"),
    ("sk-proj-FAKE0fake1FAKE2fake3", "FAKE4fake5FAKE6fake7FAKE8"),
];

/// The variables that the agent is given. Their values have no form.
const VARIABLES: [&str; 4] = ["SCENE_API_KEY", "SCENE_TOKEN", "SCENE_PASSWORD", "SCENE_SECRET"];

/// The fields of the two login files.
const LOGINS: usize = 8;

fn formless(kind: &str, number: usize) -> String {
    format!("plain {kind} {number} words of nobody").replace(' ', "-")
}

fn planted() -> Vec<String> {
    let forms = FORMS.iter().map(|(first, second)| format!("{first}{second}"));
    let variables = (0..VARIABLES.len()).map(|number| formless("variable", number));
    forms.chain(variables).chain((0..LOGINS).map(|number| formless("login", number))).collect()
}

/// An agent that repeats everything it knows, in every message that there is.
fn agent() -> String {
    let forms: String = FORMS.iter().map(|(first, second)| format!("{first}\"\"{second} ")).collect();
    let variables: String = VARIABLES.iter().map(|name| format!("${name} ")).collect();
    format!(
        "read -r prompt
cp \"$HOME/.config/tool/auth.json\" seen.json && echo yes > login.txt && rm seen.json
logins=$(cat \"$HOME/.config/tool/auth.json\" \"$HOME/.toolrc\" | tr -d '{{}}\"' | tr '\\n' ' ')
for word in {forms}{variables} $logins; do
  echo \"$word\" >&2
  echo \"{{\\\"type\\\":\\\"message\\\",\\\"id\\\":\\\"m $word\\\",\\\"text\\\":\\\"I found $word. \\\"}}\"
  echo \"{{\\\"type\\\":\\\"call\\\",\\\"id\\\":\\\"$word\\\",\\\"name\\\":\\\"shell\\\",\\\"kind\\\":\\\"execute\\\",\\\"input\\\":{{\\\"command\\\":\\\"echo $word\\\"}}}}\"
  echo \"{{\\\"type\\\":\\\"result\\\",\\\"id\\\":\\\"$word\\\",\\\"ok\\\":true,\\\"output\\\":\\\"$word\\\"}}\"
  last=\"$last $word\"
done
echo \"{{\\\"type\\\":\\\"message\\\",\\\"id\\\":\\\"last\\\",\\\"text\\\":\\\"$last\\\"}}\"
echo hello > greeting.txt
echo '{}'
",
        json!({ "type": "end", "reason": "done" })
    )
}

/// Returns every file below a directory, unpacked if it is packed.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                let is_packed = path.extension().is_some_and(|kind| kind == "zst");
                let bytes = if is_packed { zstd::decode_all(bytes.as_slice()).unwrap() } else { bytes };
                found.push((path.display().to_string(), bytes));
            }
        }
    }
    found
}

fn assert_nowhere(places: &[(String, Vec<u8>)]) {
    for (place, bytes) in places {
        for secret in planted() {
            let found = bytes.windows(secret.len()).position(|part| part == secret.as_bytes());
            let around =
                |at: usize| String::from_utf8_lossy(&bytes[at.saturating_sub(200)..at + secret.len()]).into_owned();
            assert!(found.is_none(), "{secret} is in {place}: {}", found.map(around).unwrap_or_default());
        }
    }
}

#[test]
fn none_of_twenty_secrets_is_stored_or_left_in_a_home() {
    assert_eq!(planted().len(), 20);
    let scene = Scene::with_script(&[("Makefile", "test:\n\t@grep -q hello greeting.txt\n")], &agent());
    let top = scene.folder().parent().unwrap().to_owned();
    let login: Vec<String> = (0..LOGINS).map(|number| formless("login", number)).collect();
    let (json, lines) = login.split_at(4);
    scene.write(
        "../user/.config/tool/auth.json",
        &json!({ "tokens": { "a": json[0], "b": json[1..] } }).to_string().replace(',', "\n,"),
    );
    scene.write("../user/.toolrc", &lines.join("\n"));
    let settings = std::fs::read_to_string(top.join("home/agents.toml")).unwrap();
    let env: Vec<String> = VARIABLES.iter().map(|name| format!("{name} = \"env:{name}\"")).collect();
    let more = format!("login = [\"~/.config/tool/auth.json\", \"~/.toolrc\"]\nenv = {{ {} }}\n", env.join(", "));
    scene.write("../home/agents.toml", &(settings + &more));
    let mut session = scene.session.clone().with("HOME", top.join("user").display().to_string());
    for (number, name) in VARIABLES.iter().enumerate() {
        session = session.with(name, formless("variable", number));
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/fix-until-green");
    let run = |arguments: &str| -> Transcript { session.run(arguments).unwrap() };
    let done = run(&format!("run {} --set goal=greet --name r1", example.display()));
    assert!(done.code == Some(0), "{done}");
    assert!(scene.path("login.txt").exists(), "the agent had the login");
    let shown = ["show r1", "trace r1 --json", "report r1", "evidence r1 transcript"]
        .map(|arguments| run(arguments).to_string());
    assert!(shown[3].contains("I found [redacted"), "{}", shown[3]);
    assert_nowhere(&shown.map(|text| ("the output".to_owned(), text.into_bytes())));
    assert_nowhere(&[("the output".to_owned(), done.to_string().into_bytes())]);
    assert_nowhere(&contents(&top.join("home")));
    assert_nowhere(&contents(&top.join("cache")));
    let swept = run("gc --json");
    assert!(swept.stdout.contains("\"agent_homes\": 1"), "{swept}");
    assert!(contents(&top.join("cache/interlock/agents")).is_empty());
}

/// Sends a signal to a process that this test has started.
fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success(), "kill {name} {pid}");
}

/// Returns the files below a directory that contain a text.
fn with_text(folder: &Path, text: &str) -> Vec<String> {
    let has = |content: &[u8]| content.windows(text.len()).any(|part| part == text.as_bytes());
    contents(folder).into_iter().filter(|(_, content)| has(content)).map(|(place, _)| place).collect()
}

/// A turn of an agent with a login, killed in the middle. With `is_hard` the supervisor of the agent is killed too.
fn killed_turn(is_hard: bool) -> (Scene, Session, PathBuf) {
    let script = "read -r prompt\ncat \"$HOME/.toolrc\" > seen.txt && mv seen.txt begun.txt\nexec sleep 200\n";
    let scene = Scene::with_script(&[("Makefile", "test:\n\t@false\n")], script);
    let top = scene.folder().parent().unwrap().to_owned();
    scene.write("../user/.toolrc", "a-login-that-must-not-stay\n");
    let settings = std::fs::read_to_string(top.join("home/agents.toml")).unwrap();
    scene.write("../home/agents.toml", &(settings + "login = \"~/.toolrc\"\n"));
    let session = scene.session.clone().with("HOME", top.join("user").display().to_string());
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/fix-until-green");
    let mut command = session.command(&format!("run {} --set goal=wait --name r1", example.display()));
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    scene.wait_for("begun.txt");
    let pid = process.id();
    let children = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let children = children.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<String> =
        children.flat_map(|list| list.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
    let children: Vec<&String> = children.iter().filter(|child| is_hard && !child.is_empty()).collect();
    children.iter().for_each(|child| signal("-STOP", child));
    process.kill().unwrap();
    process.wait().unwrap();
    children.iter().for_each(|child| signal("-KILL", child));
    (scene, session, top.join("cache"))
}

const LOGIN: &str = "a-login-that-must-not-stay";

#[test]
fn login_of_a_killed_turn_is_gone_at_once() {
    let (_scene, _session, cache) = killed_turn(false);
    let limit = Instant::now() + Duration::from_secs(30);
    while !with_text(&cache, LOGIN).is_empty() {
        assert!(Instant::now() < limit, "the login is left: {:?}", with_text(&cache, LOGIN));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn login_that_even_the_supervisor_could_not_remove_is_gone_with_the_next_command() {
    for next in ["gc", "resume r1"] {
        let (_scene, session, cache) = killed_turn(true);
        assert_eq!(with_text(&cache, LOGIN).len(), 1, "the supervisor is gone");
        let mut process = session.command(next).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(60);
        while !with_text(&cache, LOGIN).is_empty() {
            assert!(Instant::now() < limit, "{next}: the login is left");
            std::thread::sleep(Duration::from_millis(20));
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
}
