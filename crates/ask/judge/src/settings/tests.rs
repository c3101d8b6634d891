//! Tests of `judges.toml`: the allowed settings of each file, and the errors.

use interlock_model::settings::Key;

use super::*;

fn load(home: &str, project: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("project/.interlock")).unwrap();
    for (path, text) in [(FILE, home), ("project/.interlock/judges.toml", project)] {
        if !text.is_empty() {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
    }
    Settings::load(Some(folder.path()), &folder.path().join("project"))
        .map_err(|why| why.replace(&folder.path().display().to_string(), "HOME"))
}

const HOME: &str = r#"
[judges.claude]
provider = "anthropic"
model = "big"
key_env = "KEY"
window_tokens = 200_000
price = { input_per_million = 3, output_per_million = 15.0 }
timeouts = { silence_s = 0.5 }

[judges.local]
provider = "openai-chat"
base_url = "http://127.0.0.1:8080/v1/"
model = "small"

[judges.script]
provider = "command"
command = ["judge.py", "--strict"]

[chains]
default = ["claude", "rules"]
judge.review = ["claude", "local", "rules"]

[votes]
judge.result = 3

[budget]
tokens_per_run = 1000
cost_per_run = 2.5
"#;

#[test]
fn users_file_may_contain_every_setting() {
    let settings = load(HOME, "").unwrap();
    assert_eq!(settings.chain("judge.review"), ["claude", "local", "rules"]);
    assert_eq!(settings.chain("judge.plan"), ["claude", "rules"]);
    assert_eq!((settings.votes("judge.result"), settings.votes("judge.plan")), (3, 1));
    let Backend::Server(claude) = &settings.judges["claude"] else { panic!("not a server") };
    assert_eq!((claude.base_url.as_str(), &claude.key), ("https://api.anthropic.com", &Key::Env("KEY".into())));
    assert_eq!(claude.timeouts.silence, std::time::Duration::from_millis(500));
    assert!((claude.price.of(1_000_000, 100_000) - 4.5).abs() < 1e-9);
    let Backend::Server(local) = &settings.judges["local"] else { panic!("not a server") };
    assert_eq!((local.base_url.as_str(), &local.key), ("http://127.0.0.1:8080/v1", &Key::None));
}

#[test]
fn rules_judge_without_settings() {
    let settings = load("", "").unwrap();
    assert_eq!(settings.chain("judge.review"), ["rules"]);
    assert_eq!(settings.budget, Budget::default());
}

#[test]
fn project_file_chooses_judges_and_tightens_limits() {
    let project = r#"
        [chains]
        default = ["local"]
        [votes]
        judge.result = 1
        judge.plan = 3
        [budget]
        tokens_per_run = 5000
        cost_per_run = 1.0
        [judges.near]
        provider = "ollama"
        model = "m"
    "#;
    let settings = load(HOME, project).unwrap();
    assert_eq!(settings.chain("judge.plan"), ["local"]);
    assert_eq!((settings.votes("judge.result"), settings.votes("judge.plan")), (3, 3));
    assert_eq!(settings.budget, Budget { tokens: Some(1000), cost: Some(1.0) });
    assert!(settings.judges.contains_key("near"));
}

#[test]
fn project_file_may_not_name_keys_programs_or_other_hosts() {
    let server = |rest: &str| format!("[judges.x]\nmodel = \"m\"\n{rest}");
    let cases = [
        (server("provider = \"openai-chat\"\nbase_url = \"https://evil.example/v1\""), "a server on another computer"),
        (server("provider = \"anthropic\""), "a server on another computer"),
        (server("provider = \"ollama\"\nkey_env = \"ANTHROPIC_API_KEY\""), "a key"),
        (server("provider = \"ollama\"\nkey_file = \"/etc/passwd\""), "a key"),
        (server("provider = \"ollama\"\nproxy = \"http://evil.example\""), "a proxy"),
        (server("provider = \"command\"\ncommand = [\"rm\"]"), "a command"),
    ];
    for (project, what) in cases {
        let expected = format!(
            "HOME/project/.interlock/judges.toml: judges.x: {what} is allowed only in the judges.toml of your own store"
        );
        assert_eq!(load("", &project).unwrap_err(), expected);
    }
}

#[test]
fn invalid_setting_is_named_in_the_error() {
    let ollama = "[judges.x]\nprovider = \"ollama\"\nmodel = \"m\"\n";
    let cases = [
        (
            "[chains]\ndefault = [\"gpt\"]".to_owned(),
            "chains.default: there is no judge `gpt`; the judges are rules, person",
        ),
        ("[chains]\ndefault = []".to_owned(), "chains.default must be a list of judges"),
        (
            "[chains]\njudge.review = [\"person\", \"rules\"]".to_owned(),
            "chains.judge.review: a person always answers, so no judge can follow",
        ),
        ("[votes]\njudge.x = 0".to_owned(), "votes.judge.x must be a number from 1 to 9"),
        (
            "[judges.rules]\nprovider = \"ollama\"\nmodel = \"m\"".to_owned(),
            "judges.rules: this judge is already defined",
        ),
        (format!("{ollama}key = \"sk-123\""), "unknown field `key`"),
        (format!("{ollama}timeouts = {{ silence_s = -1 }}"), "`silence_s` must be between 0 and 86400 seconds, not -1"),
        (
            format!("{ollama}reply_tokens_max = 9000"),
            "`reply_tokens_max` 9000 leaves no room in the window of 8192 tokens",
        ),
        (format!("{ollama}base_url = \"ftp://x\""), "`base_url` must begin with http:// or https://"),
        ("[judges.x]\nprovider = \"ollama\"".to_owned(), "`model` is missing"),
        ("[judges.x]\nprovider = \"command\"".to_owned(), "`command` must be a program and its arguments"),
        ("judges = 1".to_owned(), "invalid type"),
    ];
    for (text, expected) in cases {
        let found = load(&text, "").unwrap_err();
        assert!(found.contains(expected), "{text}\n{found}");
    }
}

#[test]
fn remote_embeddings_server_is_allowed_only_in_the_users_file() {
    let elsewhere = "[embeddings]\nbase_url = \"https://models.example/v1/\"\nmodel = \"m\"\nkey_env = \"KEY\"\n";
    let near = "[embeddings]\nbase_url = \"http://127.0.0.1:8080/v1\"\nmodel = \"near\"\n";
    let settings = load(elsewhere, "").unwrap();
    let server = settings.embeddings.unwrap();
    assert_eq!((server.base_url.as_str(), server.model.as_str()), ("https://models.example/v1", "m"));
    assert_eq!(load(elsewhere, near).unwrap().embeddings.unwrap().model, "near");
    assert!(load("", elsewhere).unwrap_err().contains("embeddings: a key is allowed only"));
    assert!(load("[embeddings]\nmodel = \"m\"", "").unwrap_err().contains("base_url"));
    assert_eq!(load("", "").unwrap().embeddings, None);
}

#[test]
fn project_file_that_is_a_pipe_or_a_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PROJECT_FILE);
    std::fs::create_dir_all(folder.path().join(".interlock")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let said = || Settings::load(None, folder.path()).unwrap_err();
    assert!(said().ends_with("judges.toml is a named pipe, not a regular file"), "{}", said());
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(said().ends_with("judges.toml is a symbolic link; links are not followed here"), "{}", said());
}
