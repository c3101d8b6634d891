//! Twenty secrets that an agent is given, reads or prints: none is in the store, and none is left in its home.

use std::path::Path;

use interlock_testkit_cli::session::Transcript;
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
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fix-until-green");
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
