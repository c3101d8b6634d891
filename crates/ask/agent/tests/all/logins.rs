//! Copies of the user's credential files are gone with the agent's program.

use std::fs;

use tempfile::TempDir;

use crate::trial::Trial;

/// A credential file in the user's home directory, which is where `login` files must be.
fn credential() -> (TempDir, String) {
    let folder = TempDir::with_prefix_in(".interlock-test-", std::env::home_dir().unwrap()).unwrap();
    let file = folder.path().join("auth.json");
    fs::write(&file, r#"{"token": "a-login-of-the-user"}"#).unwrap();
    let path = file.display().to_string();
    (folder, path)
}

/// An agent that shows the mode of its login file, and then moves and links it.
fn script(path: &str) -> String {
    let inside = path.strip_prefix(std::env::home_dir().unwrap().to_str().unwrap()).unwrap().to_owned();
    format!(
        "read -r prompt\nlogin=\"$HOME{inside}\"\nstat -c %a \"$login\" > mode.txt\nwc -c < \"$login\" > size.txt\n\
         ln \"$login\" \"$HOME/linked\"\nmv \"$(dirname \"$login\")\" \"$HOME/moved\"\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn login_is_read_only_and_gone_after_the_turn() {
    let (folder, path) = credential();
    let mut trial = Trial::scripted(&(script(&path) + "echo '{\"type\":\"end\",\"reason\":\"done\"}'\n"), "");
    trial.add_setting(&format!("login = {path:?}"));
    for _ in 0..2 {
        let ended = trial.prompt("look").await;
        assert_eq!(ended.name, "turn_ended", "{:?}", ended.data);
        assert_eq!(trial.file("mode.txt").as_deref(), Some("400\n"));
        assert_ne!(trial.file("size.txt").as_deref(), Some("0\n"));
        assert_eq!(trial.in_homes("a-login-of-the-user"), Vec::<String>::new());
        fs::remove_dir_all(trial.agent_home().join("moved")).unwrap();
        fs::remove_file(trial.agent_home().join("linked")).unwrap();
    }
    assert!(folder.path().join("auth.json").exists());
}
