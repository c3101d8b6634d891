//! `interlock coder --compare`: one task for two models, of which one is right and one is wrong.

use interlock_testkit_activity::model_server::{CoderTurn, Dialect, Move, coder_model};
use serde_json::{Value as Json, json};

use super::scene::{AFTER, BEFORE, Scene, repair, told};

const GOAL: &str = "count the arguments";

/// A scene with a second model, which writes a constant.
fn scene() -> (Scene, interlock_testkit_activity::model_server::ModelServer) {
    let scene = Scene::new(vec![repair(GOAL)]);
    let wrong = json!({ "path": "count.sh", "content": "echo 7\n" });
    let moves = vec![
        Move::call("read_file", json!({ "path": "count.sh" })),
        Move::call("write_file", wrong),
        Move::done("done"),
    ];
    let other = coder_model(Dialect::Ollama, vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let judges = scene.read("../home/judges.toml");
    let second = format!(
        "[judges.wrong]\nprovider = \"{}\"\nbase_url = \"{}\"\nmodel = \"w\"\nwindow_tokens = 64000\nretries_max = 0\n{judges}",
        Dialect::Ollama.provider(),
        other.url
    );
    scene.write("../home/judges.toml", &second);
    (scene, other)
}

#[test]
fn two_models_are_compared_and_one_result_is_taken() {
    let (scene, _other) = scene();
    let compared = scene.run(&format!("coder '{GOAL}' --compare model,wrong --name t --json"));
    assert_eq!(compared.code, Some(0), "{compared}");
    let table: Json = serde_json::from_str(&compared.stdout).unwrap();
    let row = |at: usize| {
        let row = &table["runs"][at];
        json!([row["model"], row["run"], row["outcome"], row["verified"], row["files"], row["added_lines"]])
    };
    assert_eq!(row(0), json!(["model", "t-model", "completed", true, 1, 1]), "{table}");
    assert_eq!(row(1), json!(["wrong", "t-wrong", "blocked", false, 1, 1]), "{table}");
    assert_eq!(table["runs"][0]["apply"], "interlock apply t-model");
    // Nothing has reached the checkout yet.
    assert_eq!(scene.read("count.sh"), BEFORE);
    let applied = scene.run("apply t-model");
    assert_eq!((applied.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{applied}");
}

#[test]
fn the_comparison_is_a_table_for_people() {
    let (scene, _other) = scene();
    let compared = scene.run(&format!("coder '{GOAL}' --compare wrong,model --name t"));
    let heading = "model  outcome    verified  files  lines  tokens";
    assert!(compared.code == Some(0) && compared.stdout.starts_with(heading), "{compared}");
    assert!(compared.stderr.contains("such as `interlock apply t-model`"), "{compared}");
    let taken = scene.run(&format!("coder '{GOAL}' --compare wrong,model --name t"));
    assert!(taken.code == Some(2) && told(&taken).contains("already a run called `t-wrong`"), "{taken}");
}

#[test]
fn a_comparison_needs_two_known_models() {
    let (scene, _other) = scene();
    for (models, message) in [
        ("model", "--compare takes 2 to 8 models"),
        ("model,modle", "there is no model `modle`"),
        ("model,model", "the model `model` is named twice"),
    ] {
        let refused = scene.run(&format!("coder '{GOAL}' --compare {models}"));
        assert!(refused.code == Some(2) && told(&refused).contains(message), "{refused}");
    }
}
