//! The schemas of the activities' `with` fields, for the machine checker. They match the types from which each
//! activity reads its fields.

use interlock_activity::schema::{any, fields, flag, list, map, needing, number, object, one_of, open, text, whole};
use interlock_chart::model::Schema;

/// Returns the schema of `with` for one activity.
pub(crate) fn of(activity: &str) -> Schema {
    match activity {
        "copy.apply" => needing(fields([("tree", text()), ("patch", text())]), &["tree", "patch"]),
        "copy.restore" => needing(fields([("tree", text())]), &["tree"]),
        "copy.deliver" => needing(fields([("base", text()), ("tree", text()), ("round", round())]), &["base", "tree"]),
        "copy.sources" => sources(),
        "build.prepare" | "build.run" | "build.clean" => {
            fields([("tree", text()), ("build", build()), ("repo", text())])
        }
        "testbench.baseline" => baseline(),
        "testbench.setup" => needing(fields([("test_profile", object()), ("repo", text())]), &["test_profile"]),
        "testbench.flash" => needing(fields([("session", text()), ("artifact", text())]), &["session", "artifact"]),
        "testbench.reset" => {
            let how = one_of(&["reset", "restart", "switch"]);
            needing(fields([("session", text()), ("how", how)]), &["session", "how"])
        }
        "testbench.health_check" | "testbench.run" | "testbench.fetch_logs" => {
            needing(fields([("session", text())]), &["session"])
        }
        "results.normalize" | "testbench.fetch_artifacts" => {
            needing(fields([("session", text()), ("baseline", text())]), &["session"])
        }
        "convergence.measure" => convergence(),
        "delivery.examine" => examination(),
        "evidence.collect" => fields([("session", text()), ("error_state", object()), ("round", round())]),
        "knowledge.record" => round(),
        "knowledge.search" => fields([("goal", text()), ("evidence_refs", list(text())), ("product_line", text())]),
        "repair.search" => search(),
        _ => any(),
    }
}

fn build() -> Schema {
    fields([
        ("commands", list(text())),
        ("clean", text()),
        ("image", text()),
        ("needs", list(text())),
        ("environment_vars", map(text())),
        ("timeout_sec", whole()),
    ])
}

fn metrics() -> Schema {
    let figure = || serde_json::json!({ "type": "number" });
    map(fields([("max", figure()), ("min", figure()), ("rise_max_percent", figure()), ("fall_max_percent", figure())]))
}

fn round() -> Schema {
    fields([
        ("iteration_index", whole()),
        ("goal", text()),
        ("analysis", any()),
        ("patch_plan", any()),
        ("patch", text()),
        ("test_result", any()),
        ("reasoning", text()),
        ("evidence_refs", list(text())),
        ("knowledge", object()),
        ("came", text()),
    ])
}

fn sources() -> Schema {
    let fields = fields([
        ("tree", text()),
        ("repo", text()),
        ("test_result", any()),
        ("analysis", any()),
        ("allowed_paths", list(text())),
    ]);
    needing(fields, &["tree"])
}

fn baseline() -> Schema {
    let fields = fields([
        ("tree", text()),
        ("build", build()),
        ("test_profile", object()),
        ("repo", text()),
        ("metrics", metrics()),
        ("failure_log", text()),
        ("controls", whole()),
        ("allowed_paths", list(text())),
        ("reset", flag()),
    ]);
    needing(fields, &["tree", "test_profile"])
}

fn convergence() -> Schema {
    fields([
        ("baseline", text()),
        ("test_result", object()),
        ("targets", list(text())),
        ("metrics", metrics()),
        ("risk_total", number()),
        ("best_passed", whole()),
        ("patch_confidence", number()),
        ("trusted", flag()),
    ])
}

fn examination() -> Schema {
    let fields = fields([
        ("base", text()),
        ("tree", text()),
        ("repo", text()),
        ("build", build()),
        ("artifact", text()),
        ("test_profile", object()),
        ("baseline", text()),
        ("controls", whole()),
        ("trusted", flag()),
        ("patch_origin", text()),
        ("patch_confidence", number()),
        ("reset", flag()),
    ]);
    needing(fields, &["base", "tree", "test_profile"])
}

fn search() -> Schema {
    let constraints = open(fields([("allowed_paths", list(text())), ("forbidden_paths", list(text()))]));
    let fields = fields([
        ("tree", text()),
        ("repo", text()),
        ("build", build()),
        ("test_profile", object()),
        ("baseline", text()),
        ("constraints", constraints),
        ("deliver", text()),
        ("change_constraint", text()),
        ("refused", text()),
        ("previous_patch", text()),
        ("diagnostic", flag()),
    ]);
    needing(fields, &["tree", "test_profile"])
}
