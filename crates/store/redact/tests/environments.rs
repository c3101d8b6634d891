//! Ordinary environments and folder names: nothing in their paths, prompts and reports is taken for a secret, and the secrets
//! among their variables are still found.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interlock_redact::{Redactor, secrets_of};

/// The variables of systems, desktops, CI services and tools, without secrets. `{}` stands for the folder.
const SYSTEMS: [&[(&str, &str)]; 12] = [
    // A desktop session.
    &[
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
        ("SSH_AGENT_PID", "2211"),
        ("GNOME_KEYRING_CONTROL", "/run/user/1000/keyring"),
        ("XAUTHORITY", "/run/user/1000/.mutter-Xwaylandauth.7Q9K12"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ("XDG_SESSION_ID", "c2"),
        ("XMODIFIERS", "@im=ibus"),
        ("KEYBOARD", "de-latin1-nodeadkeys"),
        ("STARSHIP_SESSION_KEY", "1417223318091287"),
        ("GPG_TTY", "/dev/pts/3"),
        ("SSH_ASKPASS", "/usr/lib/openssh/gnome-ssh-askpass"),
        ("PASSWORD_STORE_DIR", "/home/ada/.password-store"),
        ("LESSKEY", "/home/ada/.lesskey"),
    ],
    // An editor's terminal.
    &[
        ("VSCODE_GIT_ASKPASS_NODE", "/usr/share/code/code"),
        ("GIT_ASKPASS", "/usr/share/code/resources/app/extensions/git/dist/askpass.sh"),
        ("VSCODE_GIT_IPC_HANDLE", "/run/user/1000/vscode-git-9f3a1b2c4d.sock"),
        ("TERM_PROGRAM_VERSION", "1.104.2"),
        ("COLORTERM", "truecolor"),
        ("KITTY_PUBLIC_KEY", "1:Xy3Kq9ZpL0vTn8RbWc5Hd2Fj7Mg4Sa6Ue1Io"),
    ],
    // GitHub Actions.
    &[
        ("GITHUB_WORKSPACE", "{}"),
        ("RUNNER_TEMP", "/home/runner/work/_temp"),
        ("GITHUB_STEP_SUMMARY", "/home/runner/work/_temp/_runner_file_commands/step_summary_5f0a7c1e"),
        ("GITHUB_SHA", "9f2c6e1a7b3d4c5e8f90a1b2c3d4e5f60718293a"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("MYSQL_ROOT_PASSWORD", "root"),
        ("CACHE_KEY", "Linux-cargo-9f2c6e1a7b3d4c5e8f90a1b2c3d4e5f6"),
        ("USER", "runner"),
        ("DB_PASSWORD", "runner"),
    ],
    // GitLab CI.
    &[
        ("CI_PROJECT_DIR", "{}"),
        ("CI_BUILDS_DIR", "/builds"),
        ("CI_COMMIT_SHA", "0f1e2d3c4b5a69788796a5b4c3d2e1f001234567"),
        ("CI_JOB_NAME", "test: [3.12, postgres]"),
        ("FF_USE_FASTZIP", "true"),
        ("REDIS_PASSWORD", "redis"),
        ("RABBITMQ_DEFAULT_PASS", "guest"),
        ("MINIO_ROOT_PASSWORD", "minioadmin"),
    ],
    // Jenkins and TeamCity.
    &[
        ("WORKSPACE", "{}"),
        ("JENKINS_NODE_COOKIE", "durable-3a1f5c7e9b2d4f6081a3c5e7092b4d6f"),
        ("HUDSON_COOKIE", "b4c1d2e3-f4a5-4678-9abc-def012345678"),
        ("BUILD_TAG", "jenkins-shop-main-1042"),
        ("TEAMCITY_BUILD_PROPERTIES_FILE", "/opt/buildagent/temp/agentTmp/teamcity.build1234567.properties"),
    ],
    // Azure Pipelines and Bitbucket.
    &[
        ("BUILD_SOURCESDIRECTORY", "{}"),
        ("AGENT_TOOLSDIRECTORY", "/opt/hostedtoolcache"),
        ("BITBUCKET_CLONE_DIR", "{}"),
        ("ENDPOINT_AUTH_SCHEME_SYSTEMVSSCONNECTION", "OAuth"),
    ],
    // Python.
    &[
        ("TOKENIZERS_PARALLELISM", "false"),
        ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305"),
        ("PYTHON_SHA256", "8fb5f9fbc7609fa822cb31549884575db7fd9657cbffb89510b5d7975963a83a"),
        ("VIRTUAL_ENV", "{}/.venv"),
        ("CONDA_PREFIX", "/opt/conda/envs/py312_token-models"),
        ("HF_HOME", "/data/huggingface"),
        ("DJANGO_SETTINGS_MODULE", "shop.settings.development"),
        ("SECRET_KEY", "development"),
    ],
    // JavaScript and Ruby.
    &[
        ("npm_config_userconfig", "/home/ada/.npmrc"),
        ("npm_package_json", "{}/package.json"),
        ("INIT_CWD", "{}"),
        ("PASSENGER_APP_ENV", "production"),
        ("RUBY_PASSENGER", "/usr/share/passenger"),
        ("SESSION_SECRET", "keyboard cat"),
        ("JWT_SECRET", "secret"),
        ("BUNDLE_GEMFILE", "{}/Gemfile"),
    ],
    // Rust, Go and C.
    &[
        ("CARGO_HOME", "/home/ada/.cargo"),
        ("CARGO_MANIFEST_DIR", "{}"),
        ("GOFLAGS", "-mod=vendor"),
        ("GOPATH", "/home/ada/go"),
        ("CFLAGS", "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=3"),
        ("CCACHE_DIR", "/var/cache/ccache"),
    ],
    // Java and Android.
    &[
        ("JAVA_HOME", "/usr/lib/jvm/temurin-21-jdk-amd64"),
        ("ANDROID_HOME", "/opt/android-sdk"),
        ("KEYSTORE_PATH", "{}/app/release-9f3a1b2c.jks"),
        ("GRADLE_USER_HOME", "/home/ada/.gradle"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/keys/shop-prod-8f2a1c9b7d3e.json"),
    ],
    // Nix and containers.
    &[
        ("NIX_PATH", "nixpkgs=/nix/store/8h3k9x2m5q7w1z4v6b0n-source"),
        ("buildInputs", "/nix/store/9s8d7f6g5h4j3k2l1z0x-openssl-3.0.14"),
        ("KUBERNETES_SERVICE_HOST", "10.96.0.1"),
        ("SERVICE_KEY", "web-frontend-v2"),
        ("STORAGE_KEY", "builds/linux/web-frontend-20251118"),
        ("HOSTNAME", "web-7c9f8d6b5-x2k4q"),
        ("ADMIN_PASSWORD", "web-7c9f8d6b5-x2k4q"),
        ("DB_PASSWORD_FILE", "/run/secrets/db_password_9f3a1b"),
    ],
    // Shells that keep where they were.
    &[
        ("OLDPWD", "/srv/Kunden/2024-Müller_GmbH/Backend-v2.1-Final3"),
        ("START_PWD", "{}"),
        ("HOST_PWD", "{}"),
        ("SSH_KEY", "/home/ada/.ssh/id_ed25519_work2024"),
        ("DEPLOY_KEY", "~/.ssh/deploy_key_rsa4096"),
        ("SIGNING_KEY", "C:\\Users\\ada\\keys\\code-signing-2024.pfx"),
    ],
];

/// Folders as people name them, in several languages.
const FOLDERS: [&str; 25] = [
    "/home/ada/src/shop",
    "/home/ada/Projects/2024-Q3_Report-v2.1-FINAL(3)",
    "/home/jörg/Entwicklung/Müller & Söhne/Größenrechner-2.0",
    "/home/élodie/Développement/naïve-café_2025",
    "/home/lucía/Documentos/Añoranza.v2.3/código",
    "/home/иван/Проекты/Отчёт2024",
    "/home/用户/项目/人工智能助手2025",
    "/home/tanaka/プロジェクト/在庫管理Ver2.0",
    "/home/minsu/작업/결제서비스3",
    "/home/ada/secret-santa/password-manager",
    "/home/ada/token-service/api-key-rotation",
    "/home/ada/auth/keys/Pass",
    "/home/ada/Tokyo2024xK9pQ7",
    "/Users/Ada Lovelace/Library/CloudStorage/Work 2025",
    "/builds/group-42/sub.group/my-app_v3",
    "/__w/shop/shop",
    "/home/runner/work/shop-9f3a1b2c/shop-9f3a1b2c",
    "/var/lib/jenkins/workspace/shop_PR-1042@2",
    "/tmp/tmp.Xk9Q2vB7nM",
    "/workspaces/monorepo/packages/ui-kit-v10.4.1-beta.2",
    "/mnt/c/Users/ada/OneDrive - Müller GmbH/Quellen",
    "/srv/http/8f2a1c9b7d3e4f5a6b7c8d9e0f1a2b3c",
    "/opt/acme/releases/20251118143205",
    "/data/experiments/run=17,lr=3e-4,seed=42",
    "/nix/store/8h3k9x2m5q7w1z4v6b0nq2w3e4r5t6y7-source",
];

/// Secrets that a variable may hold, in halves, so that this file contains none.
const PLANTED: [(&str, &str, &str); 9] = [
    ("OPENAI_API_KEY", "sk-proj-FAKE0fake1FAKE2", "fake3FAKE4fake5FAKE6"),
    ("GITHUB_TOKEN", "ghs_FAKE0fake1FAKE2fake3", "FAKE4fake5FAKE6fake7"),
    ("DB_PASSWORD", "Tr0ub4dor", "&3FAKE"),
    ("MYSQL_PWD", "hunter2", "FAKE9horse"),
    ("CLIENT_SECRET", "plain-words", "-of-nobody-else"),
    ("AWS_SECRET_ACCESS_KEY", "/FAKE0fake1/FAKE2fake3FAKE4", "fake5FAKE6f+ke7FA"),
    ("VAULT_TOKEN", "hvs.FAKE0fake1FAKE2", "fake3FAKE4fake5"),
    ("DEPLOY_TOKEN", "7f3a9c1e-4b2d", "-4e6f-8a1b-c5d7e9f01234"),
    ("APP_PASSPHRASE", "correcthorse", "batterystaple"),
];

fn environment(system: &[(&str, &str)], folder: &str) -> Vec<(String, String)> {
    let usual =
        [("HOME", "/home/ada"), ("PWD", folder), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "de_DE.UTF-8")];
    let all = usual.into_iter().chain(system.iter().copied());
    all.map(|(name, value)| (name.to_owned(), value.replace("{}", folder))).collect()
}

/// The texts of a run in a folder: its input, a prompt, commands, a report, and what `env` prints.
fn texts(folder: &str, variables: &[(String, String)]) -> Vec<String> {
    let name = folder.rsplit('/').next().unwrap();
    let mut texts = vec![
        folder.to_owned(),
        format!("Work in {folder}. Fix the parser of {name}: it drops the last line."),
        format!("cd '{folder}' && make -C \"{folder}/src\" test --jobs=2"),
        format!("| folder | `{folder}` |\n| worktree | {folder}/.interlock/worktrees/{name}-1 |"),
        format!("{{\"folder\": \"{folder}\", \"pwd\": \"{folder}\", \"file\": \"{folder}/README.md\"}}"),
        format!("File \"{folder}/tests/test_token.py\", line 42, in test_password"),
        "web-frontend-v2 is at builds/linux/web-frontend-20251118.".to_owned(),
        "The run uses postgres, redis and minioadmin; the guest waits for the secret of development.".to_owned(),
    ];
    texts.extend(
        variables.iter().filter(|(_, value)| value.contains(folder)).map(|(name, value)| format!("{name}={value}")),
    );
    texts
}

#[test]
fn three_hundred_ordinary_environments_have_no_marks() {
    let mut marked = Vec::new();
    let mut count = 0;
    for (system, folder) in SYSTEMS.iter().flat_map(|system| FOLDERS.iter().map(move |folder| (system, folder))) {
        let variables = environment(system, folder);
        let redactor = Redactor::new(secrets_of(&variables));
        for text in texts(folder, &variables) {
            if redactor.text(&text) != text {
                marked.push(redactor.text(&text).into_owned());
            }
        }
        count += 1;
    }
    assert_eq!((count, marked.len()), (300, 0), "{}", marked.join("\n"));
}

#[test]
fn secrets_are_found_in_every_one_of_these_environments() {
    for (system, folder) in SYSTEMS.iter().flat_map(|system| FOLDERS.iter().map(move |folder| (system, folder))) {
        let mut variables = environment(system, folder);
        variables.retain(|(name, _)| PLANTED.iter().all(|(planted, ..)| planted != name));
        variables.extend(PLANTED.iter().map(|(name, first, second)| ((*name).to_owned(), format!("{first}{second}"))));
        let redactor = Redactor::new(secrets_of(&variables));
        for (name, first, second) in PLANTED {
            let said = redactor.text(&format!("in {folder} it said {first}{second} and went on")).into_owned();
            assert!(!said.contains(first) && said.contains(folder), "{name}: {said}");
        }
    }
}

#[test]
fn a_value_is_secret_by_the_words_of_its_name() {
    let value = "xK9pQ7vB2nM4tR8wZ1";
    let is_secret = |name: &str| !secrets_of(&[(name.to_owned(), value.to_owned())]).is_empty();
    let secret = ["API_KEY", "MY_PASSWORD", "GITHUB_PAT", "DB_PWD", "npm_config__authToken", "CI_JOB_TOKEN", "SECRET"];
    let other =
        ["PWD", "OLDPWD", "KEYBOARD", "PASSENGER", "GPG_KEY", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "SECRETARY"];
    for name in secret {
        assert!(is_secret(name), "{name}");
    }
    for name in other {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn a_part_of_the_runs_path_is_spared_and_the_rest_is_not() {
    let redactor = Redactor::new(["shop-Xk9Q2v", "another-Zt7Wq1"]);
    let sparing = redactor.sparing("/srv/shop-Xk9Q2v/app").unwrap();
    assert_eq!(
        sparing.text("/srv/shop-Xk9Q2v/app and another-Zt7Wq1"),
        "/srv/shop-Xk9Q2v/app and [redacted: known secret]"
    );
    assert!(redactor.sparing("/srv/elsewhere").is_none());
}
