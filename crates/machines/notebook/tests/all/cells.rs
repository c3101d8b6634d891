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

#[tokio::test(flavor = "multi_thread")]
async fn a_bash_cell_is_executed() {
    let Some(mut trial) = Trial::new() else { return };
    trial.with["kernel"] = json!("bash");
    assert_eq!(trial.effects("greeting=hello; echo \"$greeting\"; echo oops >&2").await, ["hello\noops\n"]);
    assert_eq!(trial.effects("echo $greeting again; pwd | grep -c /").await, ["hello again\n1\n"]);
    assert_eq!(trial.notebook()["metadata"]["kernelspec"]["name"], "bash");
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_does_not_answer_inspect_messages_keeps_the_given_variables() {
    let Some(mut trial) = Trial::new() else { return };
    trial.with["kernel"] = json!("bash");
    trial.with["variables"] = json!({ "greeting": "given" });
    let ended = trial.run("greeting=hello\nother=1").await;
    assert_eq!(ended.name, "executed", "{:?}", ended.data);
    assert_eq!(ended.data["variables"], json!({ "greeting": "given" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_other_languages_are_read_with_inspect_messages() {
    let Some(mut trial) = Trial::new() else { return };
    // IPython's own answers to inspect messages, under the name of another language.
    let kernel = "from ipykernel.ipkernel import IPythonKernel\nfrom ipykernel.kernelapp import IPKernelApp\n\
        class Other(IPythonKernel):\n    language_info = {'name': 'other', 'file_extension': '.other'}\n\
        IPKernelApp.launch_instance(kernel_class=Other)";
    let place = trial.folder.path().join("venv/share/jupyter/kernels/other");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(trial.folder.path().join("venv/other.py"), kernel).unwrap();
    let python = trial.folder.path().join(".venv/bin/python");
    let argv = json!([python, trial.folder.path().join("venv/other.py"), "-f", "{connection_file}"]);
    let spec = json!({ "argv": argv, "display_name": "Other", "language": "other" });
    std::fs::write(place.join("kernel.json"), spec.to_string()).unwrap();
    trial.with["kernel"] = json!("other");
    trial.with["variables"] = json!({ "given": 1, "missing": 2 });
    let ended = trial.run("answer = 6 * 7\ngiven = 'text'").await;
    assert_eq!(ended.name, "executed", "{:?}", ended.data);
    let expected = json!({ "answer": { "type": "int", "text": "42" }, "given": { "type": "str", "text": "text" } });
    assert_eq!(ended.data["variables"], expected);
    let later = trial.run("another = [1, 2]").await;
    assert_eq!(later.data["variables"]["answer"]["text"], "42", "a name that was found before is asked about again");
    assert_eq!(later.data["variables"]["another"]["type"], "list");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_raises_is_a_completed_action() {
    let Some(trial) = Trial::new() else { return };
    let ended = trial.run("y = 5\n1 / 0").await;
    assert_eq!(ended.data["summary"], "executed cell-1: ZeroDivisionError: division by zero");
    assert_eq!(ended.data["failed"], true);
    let effects = texts(&ended.data["effects"]);
    assert!(
        effects[0].contains("Traceback") && effects[0].ends_with("ZeroDivisionError: division by zero"),
        "{effects:?}"
    );
    assert!(!effects[0].contains('\u{1b}'), "colours are for the notebook: {effects:?}");
    assert_eq!(ended.data["variables"]["y"]["text"], "5", "variables are read after an error too");
    let output = &trial.notebook()["cells"][0]["outputs"][0];
    assert_eq!(output["ename"], "ZeroDivisionError");
    assert!(output["traceback"].to_string().contains("\\u001b["), "colours are kept: {output}");
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_asks_for_input_gets_an_error() {
    let Some(trial) = Trial::new() else { return };
    let effects = trial.effects("input('name? ')").await;
    assert!(effects.concat().contains("StdinNotImplementedError"), "{effects:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_is_confined_to_the_workspace_and_has_no_network() {
    let Some(trial) = Trial::new() else { return };
    let outside = trial.home.path().join("outside");
    let effects = trial.effects(&format!("open('inside', 'w').write('x')\nopen('{}', 'w')", outside.display())).await;
    assert!(effects.concat().contains("PermissionError"), "{effects:?}");
    assert!(trial.folder.path().join("inside").exists() && !outside.exists());
    let connect = "import socket\nsocket.create_connection(('127.0.0.1', 9), 5)";
    let effects = trial.effects(connect).await.concat();
    assert!(effects.contains("PermissionError") || effects.contains("Operation not permitted"), "{effects}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_hangs_is_interrupted_and_the_kernel_goes_on() {
    let Some(mut trial) = Trial::new() else { return };
    trial.effects("x = 7").await;
    trial.with["cell_timeout_s"] = json!(1);
    let (code, message) = trial.run("print('begun', flush=True)\nimport time\ntime.sleep(600)").await.error();
    assert_eq!(code, "CELL_TIMEOUT");
    assert_eq!(message, "cell-2 did not end within 1 seconds (it was interrupted; the kernel goes on)");
    let outputs = trial.notebook()["cells"][1]["outputs"].to_string();
    assert!(outputs.contains("begun") && outputs.contains("KeyboardInterrupt"), "{outputs}");
    trial.with["cell_timeout_s"] = json!(60);
    assert_eq!(trial.effects("print(x)").await, ["7\n"]);
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_ignores_the_interrupt_loses_its_kernel() {
    let Some(mut trial) = Trial::new() else { return };
    trial.effects("x = 7").await;
    trial.with["cell_timeout_s"] = json!(1);
    let stubborn = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)";
    let ended = trial.run(stubborn).await;
    let (code, message) = ended.error();
    assert_eq!(code, "CELL_TIMEOUT");
    assert!(message.contains("it ignored the interrupt, so its kernel was ended"), "{message}");
    assert_eq!(ended.data["cells"], json!([{ "id": "cell-1", "source": "x = 7" }]));
    (trial.with["cell_timeout_s"], trial.with["on_kernel_lost"]) = (json!(60), json!("rerun"));
    assert_eq!(trial.effects("print(x)").await, ["7\n"], "the cell before is executed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_kills_the_kernel_is_noticed() {
    let Some(mut trial) = Trial::new() else { return };
    trial.effects("x = 7").await;
    let ended =
        trial.run("print('last words', flush=True)\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)").await;
    let (code, message) = ended.error();
    assert_eq!(code, "KERNEL_LOST");
    assert!(message.starts_with("the kernel died while cell-2 ran: it was ended by signal 9"), "{message}");
    assert!(message.ends_with("To go on, 1 cell must be executed again: cell-1"), "{message}");
    let outputs = trial.notebook()["cells"][1]["outputs"].to_string();
    assert!(outputs.contains("the kernel died while cell-2 ran"), "{outputs}");
    trial.with["on_kernel_lost"] = json!("rerun");
    assert_eq!(trial.effects("print(x)").await, ["7\n"], "the cell before is executed again");
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_prints_50_mb_is_cut_and_kept_as_evidence() {
    let Some(trial) = Trial::new() else { return };
    let ended = trial.run("line = 'x' * 999\nfor n in range(50_000): print(line)\nprint('the end')").await;
    let effects = texts(&ended.data["effects"]);
    assert!(effects.concat().len() < 40_000, "{}", effects.concat().len());
    assert!(effects.concat().ends_with("the end\n"), "the end of the output is shown");
    let output = ended.outcome.evidence.iter().find(|kept| kept.name == "output").unwrap();
    assert_eq!(output.bytes, 50_000_000 + 8);
    assert_eq!(ended.data["outputs"], json!([output.hash.to_string()]));
    assert!(std::fs::metadata(trial.path()).unwrap().len() < 1_500_000);
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_kept_in_the_notebook_and_beside_it() {
    let Some(trial) = Trial::new() else { return };
    let ended = trial.run("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()").await;
    assert_eq!(ended.name, "executed", "{:?}", ended.data);
    let effects = texts(&ended.data["effects"]);
    assert!(effects.iter().any(|text| text.starts_with("[image/png: n.files/cell-1-1.png]")), "{effects:?}");
    let picture = std::fs::read(trial.folder.path().join("n.files/cell-1-1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let kept = ended.outcome.evidence.iter().find(|kept| kept.media == "image/png").unwrap();
    assert_eq!(kept.bytes, picture.len() as u64);
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn rich_output_of_any_type_is_kept() {
    let Some(trial) = Trial::new() else { return };
    let code = "from IPython.display import display\n\
        display({'text/html': '<b>x</b>', 'application/vnd.own+json': {'a': [1]}}, raw=True)\n\
        h = display('old', display_id=True)\nh.update('new')";
    trial.effects(code).await;
    let outputs = trial.notebook()["cells"][0]["outputs"].clone();
    assert_eq!(outputs[0]["data"]["application/vnd.own+json"], json!({ "a": [1] }));
    assert_eq!(outputs[0]["data"]["text/html"], json!(["<b>x</b>"]));
    assert_eq!(outputs[1]["data"]["text/plain"], json!(["'new'"]));
    trial.validate();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_over_its_memory_limit_is_ended() {
    let Some(mut trial) = Trial::new() else { return };
    trial.with["limits"] = json!({ "memory_mib": 400 });
    let (code, message) = trial.run("x = bytearray(900 * 1024 * 1024)\nimport time\ntime.sleep(50)").await.error();
    assert_eq!(code, "LIMIT", "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataframe_is_described_by_shape_and_columns() {
    let Some(trial) = Trial::new() else { return };
    let ended = trial.run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})").await;
    let about = &ended.data["variables"]["df"];
    assert_eq!((&about["type"], &about["shape"]), (&json!("DataFrame"), &json!([3, 2])));
    assert!(about["text"].as_str().unwrap().starts_with("DataFrame(3×2): a int64, b "), "{about}");
}
