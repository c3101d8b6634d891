//! The clients in `clients/`, against the real server.

use std::{path::Path, process::Command};

use super::scene::Scene;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn the_python_client_starts_answers_and_follows_a_run() {
    let scene = Scene::new("1h");
    let script = format!(
        r#"
from interlock_client import Interlock, Problem
server = Interlock("http://{}", "{}")
assert "gate" in [machine["id"] for machine in server.machines()]
server.start("gate", {:?}, {{"change": "x"}}, name="p1")
assert [item["run"] for item in server.inbox()] == ["p1"]
server.send("p1", "open", {{"note": "fine"}}, id="once")
assert server.send("p1", "open", {{"note": "fine"}}, id="once")["repeated"]
seen = []
for notice in server.events(run="p1", since=0):
    seen.append(notice["seq"])
    if notice["seq"] == 2:
        break
assert seen == [1, 2], seen
assert [run["run"] for run in server.runs(limit=1)] == ["p1"]
assert server.trace("p1")[1]["moves"][0]["to_state"] == "passed"
assert server.diff("p1") == ""
try:
    server.send("p1", "open", {{"note": "late"}})
    raise SystemExit("a run that has ended took an event")
except Problem as problem:
    assert problem.status == 409 and problem.code == "REFUSED", problem
print("good")
"#,
        scene.address,
        scene.token("operator"),
        scene.project()
    );
    let mut python = Command::new("python3");
    python.args(["-c", &script]).env("PYTHONPATH", root().join("clients/python")).env("PYTHONDONTWRITEBYTECODE", "1");
    assert_eq!(succeeds(&mut python), "good\n");
}

#[test]
fn the_typescript_client_compiles_strictly_and_follows_a_run() {
    let Some(folder) = interlock_testkit_activity::parts::installed("typescript.sh") else { return };
    let compiler = folder.join("node_modules/typescript/bin/tsc");
    let scene = Scene::new("1h");
    let client = std::fs::read_to_string(root().join("clients/typescript/interlock.ts")).unwrap();
    scene.session.write("client/interlock.ts", &client).unwrap();
    let script = format!(
        r#"
import {{ Interlock, Problem }} from "./interlock.js";
const server = new Interlock("http://{}", "{}");
await server.start({{ machine: "gate", folder: {:?}, name: "t1", input: {{ change: "x" }} }});
await server.send("t1", "open", {{ note: "fine" }});
const seen: number[] = [];
const stop = new AbortController();
for await (const notice of server.events({{ run: "t1", since: 0, signal: stop.signal }})) {{
  seen.push(notice.seq);
  if (notice.seq === 2) break;
}}
stop.abort();
if ((await server.diff("t1")) !== "") throw new Error("nothing was changed");
const names: string[] = [];
for await (const run of server.runs({{ limit: 1 }})) names.push(run.run);
const failed = await server.send("t1", "open", {{ note: "late" }}).then(() => "taken", (error: Problem) => error.code);
console.log(seen.join(), names.join(), failed);
process.exit(0);
"#,
        scene.address,
        scene.token("operator"),
        scene.project()
    );
    scene.session.write("client/main.ts", &script).unwrap();
    scene.session.write("client/package.json", "{ \"type\": \"module\" }").unwrap();
    let here = scene.session.folder().join("client");
    let types = folder.join("node_modules/@types");
    let mut compile = Command::new("node");
    compile.arg(compiler).args([
        "--strict",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--lib",
        "es2022,dom,dom.iterable",
    ]);
    compile.arg("--typeRoots").arg(types).args(["--types", "node", "main.ts"]).current_dir(&here);
    succeeds(&mut compile);
    assert_eq!(succeeds(Command::new("node").arg("main.js").current_dir(&here)), "1,2 t1 REFUSED\n");
}
