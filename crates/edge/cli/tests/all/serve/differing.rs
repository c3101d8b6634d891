//! The difference that a run has made: the command, the API and the tool for models tell the same, at any size.

use serde_json::{Value as Json, json};

use super::scene::Scene;

/// Changes files and ends.
const CHANGER: &str = "\
machine: changer
version: 1
summary: Changes files.
initial: writing
on: { error: { target: gone, reason: '${event.message}' }, timeout: { target: gone } }
states:
  writing:
    invoke: { activity: command.run, effect: write, with: { command: [sh, write.sh] }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: { target: kept }, failed: { target: gone } }
  kept: { type: final, outcome: success }
  gone: { type: final, outcome: failure }
";

/// Adds 60 files of about 20 KB, replaces a file by a directory, and changes names that git treats specially.
const WRITE: &str = "mkdir -p src; for i in $(seq 1 60); do seq 1 2000 | sed \"s/^/file $i line /\" > src/$i.txt; done\n\
    rm plain; mkdir plain; echo in > plain/in; echo new > ':(top)odd'; echo '*' > '*'; rm -f old.txt\n";

fn scene() -> (Scene, String) {
    let scene = Scene::new("1h");
    for (path, text) in [
        ("project/.interlock/machines/changer/machine.yaml", CHANGER),
        ("project/write.sh", WRITE),
        ("project/plain", "1\n2\n"),
        ("project/*", "old\n"),
        ("project/old.txt", "1\n2\n3\n"),
    ] {
        scene.session.write(path, text).unwrap();
    }
    let token = scene.token("operator");
    let ran = scene.session.run_shell("cd project && interlock run changer --name c1").unwrap();
    assert_eq!(ran.code, Some(0), "{ran}");
    (scene, token)
}

fn command(scene: &Scene, arguments: &str) -> Json {
    let transcript = scene.session.run_shell(&format!("cd project && interlock diff c1 {arguments} --json")).unwrap();
    serde_json::from_str(&transcript.stdout).unwrap_or_else(|error| panic!("{error}\n{transcript}"))
}

fn find<'j>(list: &'j Json, path: &str) -> &'j Json {
    let found = list["files"].as_array().unwrap().iter().find(|file| file["path"] == path);
    found.unwrap_or_else(|| panic!("{path} is not in {list}"))
}

#[test]
fn every_file_is_listed_with_true_counts_by_the_command_the_api_and_the_tool() {
    let (scene, token) = scene();
    let listed = command(&scene, "--stat");
    assert_eq!(listed["total"], json!({ "files": 65, "added": 120_003, "removed": 6 }), "{listed}");
    assert_eq!(find(&listed, "src/60.txt")["added"], 2000);
    assert_eq!(
        (&find(&listed, "plain")["how"], &find(&listed, "plain/in")["how"]),
        (&json!("removed"), &json!("added"))
    );
    let api = scene.get(&token, "/runs/c1/diff?text=false").json();
    assert_eq!((&api["files"], &api["total"]), (&listed["files"], &listed["total"]));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "diff_run", "arguments": { "run": "c1", "text": false } } });
    let bearer = format!("Authorization: Bearer {token}");
    let told =
        scene.send("POST", "/mcp", &[&bearer], &message.to_string()).json()["result"]["content"][0]["text"].clone();
    let told: Json = serde_json::from_str(told.as_str().unwrap()).unwrap();
    assert_eq!(told["files"], listed["files"]);
}

#[test]
fn what_is_left_out_is_counted_and_can_be_fetched() {
    let (scene, token) = scene();
    let cut = scene.get(&token, "/runs/c1/diff").json();
    let whole = scene.get(&token, "/runs/c1/diff/patch");
    let shown = cut["diff"].as_str().unwrap().len() as u64;
    assert!(cut["more_bytes"].as_u64().unwrap() > 500_000, "{}", cut["more_bytes"]);
    assert_eq!(shown + cut["more_bytes"].as_u64().unwrap(), whole.body.len() as u64);
    assert!(whole.has_header("content-disposition: attachment; filename=\"c1.diff\""), "{:?}", whole.head);
    let text = String::from_utf8(whole.body).unwrap();
    assert_eq!(text.matches("\ndiff --git ").count() + 1, 65);
    assert_eq!(command(&scene, "")["diff"].as_str().unwrap(), text);
    // One file at a time: a directory that replaced a file is another path, and no name is a pattern.
    for (path, expected) in [("plain", "-1\n-2\n"), ("plain/in", "+in\n"), (":(top)odd", "+new\n"), ("*", "-old\n+*\n")]
    {
        let one = command(&scene, &format!("'{path}'"));
        let patch = one["diff"].as_str().unwrap();
        assert!(patch.ends_with(expected) && patch.matches("diff --git").count() == 1, "{path}: {patch}");
    }
    assert_eq!(scene.get(&token, "/runs/c1/diff?path=nothing").status, 404);
}

#[test]
fn the_difference_stays_that_of_the_run_and_outlives_its_directory() {
    let (scene, _) = scene();
    let before = command(&scene, "");
    scene.session.run_shell("cd project && rm -r src && echo other > later.txt").unwrap();
    assert_eq!(command(&scene, "")["files"], before["files"], "later changes are not the run's");
    scene.session.run_shell("mv project elsewhere && mkdir project").unwrap();
    assert_eq!(command(&scene, "src/7.txt")["diff"].as_str().unwrap().matches("\n+file 7").count(), 2000);
    // An undone run has changed nothing any more.
    scene
        .session
        .run_shell("rmdir project && mv elsewhere project && cd project && rm later.txt && mkdir src")
        .unwrap();
    let undone = scene.session.run_shell("cd project && interlock undo c1 --skip-conflicts").unwrap();
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(command(&scene, "--stat")["files"].as_array().unwrap().len(), 0);
}
