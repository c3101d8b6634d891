//! Paths are not secrets: in folders with ordinary names, nothing that a run takes, does or reports has a mark.

use interlock_testkit_cli::session::Session;

const FOLDERS: [&str; 9] = [
    "shop",
    "2024-Q3_Report-v2.1-FINAL(3)",
    "Müller & Söhne 2.0",
    "Отчёт2024",
    "人工智能助手2025",
    "Tokyo2024xK9pQ7",
    "password-manager",
    "8f2a1c9b7d3e4f5a6b7c8d9e0f1a2b3c",
    "postgres",
];

/// A machine that takes a path and uses it in a command.
const READING: &str = "\
machine: reader
version: 1
input: { type: object, required: [path], properties: { path: { type: string } } }
initial: reading
on: { error: { target: lost, reason: '${event.message}' } }
states:
  reading:
    invoke:
      activity: command.run
      with: { command: [sh, -c, 'pwd; env | grep PWD; cat \"$1\"', sh, '${input.path}'] }
      signals: [passed, failed]
    on: { passed: { target: done, reason: 'read ${input.path}' }, failed: lost }
  done: { type: final, outcome: success, data: { path: '${input.path}' } }
  lost: { type: final, outcome: failure }
";

#[test]
fn no_folder_name_is_taken_for_a_secret() {
    for name in FOLDERS {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().canonicalize().unwrap().join(name);
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &folder)
            .with("INTERLOCK_HOME", parent.path().join("home").display().to_string())
            .with("PWD", folder.display().to_string())
            .with("OLDPWD", folder.join("before").display().to_string())
            .with("START_PWD", folder.display().to_string())
            .with("HOME", folder.display().to_string())
            .with("SSH_KEY", folder.join("notes.txt").display().to_string())
            .with("POSTGRES_PASSWORD", "postgres")
            .with("ADMIN_PASSWORD", name);
        session.write("notes.txt", "words of a file\n").unwrap();
        session.write("reading.yaml", READING).unwrap();
        let path = folder.join("notes.txt").display().to_string();
        let mut shown = String::new();
        let input = serde_json::json!({ "path": path }).to_string();
        session.write("input.json", &input).unwrap();
        for call in [
            "run reading.yaml --input input.json --name r1",
            "show r1 --json",
            "trace r1",
            "report r1",
            "evidence r1 stdout",
        ] {
            let said = session.run(call).unwrap();
            assert_eq!(said.code, Some(0), "{name}: {call}: {said}");
            shown.push_str(&said.to_string());
        }
        assert!(shown.contains(&path) && shown.contains("words of a file"), "{name}:\n{shown}");
        assert!(!shown.contains("[redacted"), "{name}:\n{shown}");
    }
}
