//! Cells that work, and cells that do everything they should not.

use serde_json::json;

use crate::trial::{Trial, texts};

#[tokio::test(flavor = "multi_thread")]
async fn a_python_cell_is_executed_and_its_variables_are_read() {
    let Some(trial) = Trial::new() else { return };
    let ended = trial.run("import math\nx = [1, 2]\nname = 'ab'\nprint('hello')\nx").await;
    assert_eq!(ended.name, "executed", "{:?}", ended.data);
    assert_eq!(texts(&ended.data["effects"]), ["hello\n", "[1, 2]"]);
    let expected = json!({
        "x": { "type": "list", "text": "[1, 2]", "shape": [2] }, "name": { "type": "str", "text": "'ab'" },
    });
    assert_eq!(ended.data["variables"], expected);
    assert_eq!(ended.data["last_cell"], "cell-1");
    assert_eq!(trial.effects("print(len(x))").await, ["2\n"], "the kernel keeps its state");
    let notebook = trial.notebook();
    assert_eq!(notebook["cells"][1]["execution_count"], 2, "reading variables leaves no trace in the history");
    assert_eq!(notebook["cells"][0]["metadata"]["interlock"]["stage_id"], "s");
    trial.validate();
}
