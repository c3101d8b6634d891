//! The home directory is closed: programs read nothing in it but their own places and what tools need.

use std::{fs, os::unix::fs::symlink, path::Path};

use interlock_sandbox::{Account, Config, Kind};

use crate::scene::{SECRET, Scene, has};

/// Files in which programs keep credentials, conversations and other things that are no business of a build.
const PRIVATE: &str = "
    .sbt/.credentials .ivy2/.credentials .condarc .jfrog/jfrog-cli.conf.v6 .nuget/NuGet/NuGet.Config .hex/hex.config
    .local/share/uv/credentials/credentials.toml .local/share/hatch/keyring .config/configstore/firebase-tools.json
    .cloudflared/cert.pem .config/solana/id.json .ollama/id_ed25519 .qwen/oauth_creds.json .config/goose/secrets.yaml
    .config/Code/User/globalStorage/state.vscdb .config/Cursor/User/globalStorage/state.vscdb
    .config/remmina/x.remmina .local/share/remmina/x.remmina .putty/sessions/x .env .envrc .jupyter/jupyter_server_config.json
    .ipython/profile_default/history.sqlite .ssh/id_rsa .gnupg/private-keys-v1.d/x.key .password-store/x.gpg
    .local/share/keyrings/login.keyring .aws/credentials .azure/msal_token_cache.json .config/gcloud/credentials.db
    .kube/config .docker/config.json .netrc .git-credentials .npmrc .yarnrc.yml .pypirc .config/pip/pip.conf
    .cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties .composer/auth.json
    .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json .pgpass .my.cnf .mozilla/firefox/x/logins.json
    .config/google-chrome/Default/Cookies .thunderbird/x/key4.db .bash_history .python_history .viminfo
    .cache/huggingface/token .julia/servers/x/auth.toml .platformio/appstate.json .stack/upload/credentials.json
    .config/Signal/config.json .config/Signal/sql/db.sqlite .config/Slack/Cookies .config/discord/Local.db
    .local/share/TelegramDesktop/tdata/key_datas .config/Element/Local.db .purple/accounts.xml .config/hexchat/servlist.conf
    .config/skypeforlinux/main.db .config/teams/storage.json .config/zoomus.conf .zoom/data/x.db .config/matrix-commander/credentials
    .config/whatsapp/x .local/share/gajim/settings.sqlite .local/share/dino/dino.db .config/profanity/accounts
    .config/Mattermost/config.json .local/share/fractal/x .config/wire/init.json .config/keybase/session
    .config/JetBrains/IdeaIC2026.1/options/security.xml .config/JetBrains/c.kdbx .local/share/JetBrains/x .config/zed/settings.json
    .local/share/zed/db/0-stable/db.sqlite .config/sublime-text/Local/License.sublime_license .config/Windsurf/state.vscdb
    .vscode-server/data/Machine/settings.json .vscode/argv.json .config/nvim/init.lua .emacs.d/auth .emacs.d/init.el .config/emacs/secret.el
    .config/VSCodium/User/settings.json .local/state/nvim/shada/main.shada .config/helix/config.toml .continue/config.json
    .electrum/wallets/default .bitcoin/wallet.dat .ethereum/keystore/x .monero/wallet .config/Exodus/exodus.wallet/seed.seco
    .config/atomic/x .config/Ledger\\_Live/app.json .local/share/sparrow/wallets/x .sui/sui.keystore .aptos/config.yaml
    .near-credentials/mainnet/x.json .foundry/keystores/x .config/gnosis/x .lnd/admin.macaroon .litecoin/wallet.dat
    .config/openvpn3/x .openvpn/x.ovpn .config/wireguard/wg0.conf .config/mullvad/account .config/protonvpn/x
    .config/NetworkManager/x .cisco/vpn .config/tailscale/x .zerotier/authtoken .config/nordvpn/x .config/warp/x
    .config/doctl/config.yaml .config/hcloud/cli.toml .config/flyctl/config.yml .config/railway/config.json .vultr-cli.yaml
    .config/scw/config.yaml .config/linode-cli .exoscale/exoscale.toml .config/civo/civo.json .civo.json .ovh.conf .upctl.yaml
    .aliyun/config.json .tccli/default.credential .hcloud/cli .bluemix/config.json .config/ibmcloud/x .oci/config
    .config/configstore/@google/clasp.json .clasprc.json .config/netlify/config.json .config/.wrangler/config/default.toml
    .terraform.d/credentials.tfrc.json .pulumi/credentials.json .vault-token .config/op/config .sops/age/keys.txt
    .config/rclone/rclone.conf .config/restic/password .config/borg/keys/x .duplicity/x .s3cfg .mc/config.json .lftp/bookmarks
    .config/syncthing/key.pem .local/state/syncthing/key.pem .config/Nextcloud/nextcloud.cfg .dropbox/info.json .megaCmd/session
    .config/filezilla/sitemanager.xml .config/Insomnia/insomnia.db .config/Postman/x .config/httpie/sessions/x .bruno/x
    .local/share/DBeaverData/workspace6/x .config/DBeaver/x .dbshell .mongodb/mongosh/x .config/tableplus/x .redisclirc
    .local/share/gnome-shell/x .local/share/evolution/x .local/share/kwalletd/kdewallet.kwl .local/share/akonadi/x .abook/addressbook
    .config/weechat/sec.conf .irssi/config .mutt/account .mbsyncrc .msmtprc .notmuch-config .config/himalaya/config.toml
    .config/gh/hosts.yml .config/glab-cli/config.yml .config/tea/config.yml .config/jira/.config.yml .config/linear/x .atlassian/x
    .wakatime.cfg .config/sentry/x .sentryclirc .datadog/x .newrelic/x .config/heroku/x .kaggle/kaggle.json .config/wandb/settings
    .lightning/credentials.json .runpod/config.toml .modal.toml .vast_api_key .config/ngc/config .together/x .openai/x .config/llm/keys.json
    .local/share/io.datasette.llm/keys.json .aider.conf.yml .config/crush/x .config/amp/settings.json .factory/auth.json .augment/session.json
    .local/share/opencode/auth.json .local/share/goose/sessions/x .kiro/x .amazonq/x .config/github-copilot/apps.json .tabnine/x .supermaven/x
    .local/share/applications/x Documents/taxes.pdf Desktop/passwords.txt Downloads/keys.zip diary other-project/src/main.rs
    .bashrc .zshrc .profile .zshenv .config/fish/config.fish .Rprofile .Renviron .wgetrc .curlrc .hgrc .cache/thumbnails/x
    .cache/mozilla/x .cache/interlock/agents/x/home/session .config/autostart/x .local/share/Trash/files/x .minecraft/launcher_accounts.json
    .steam/config.vdf .config/spotify/x .config/obs-studio/service.json .config/transmission/settings.json .wine/user.reg
";

/// Files that toolchains need.
const NEEDED: &str = "
    .cargo/config.toml .cargo/registry/index/x .rustup/settings.toml .pyenv/version .local/lib/python3.13/site-packages/x.py
    .local/bin/tool .cache/pip/x .cache/uv/x .cache/go-build/x go/pkg/mod/x .npm/_cacache/x .nvm/versions/node/v24/bin/node
    .m2/repository/x.jar .gradle/caches/x .nuget/packages/x .platformio/packages/x .julia/packages/x .gem/ruby/x
    .local/share/jupyter/kernels/python3/kernel.json .local/share/uv/python/x .config/git/ignore .editorconfig .gitconfig
    tools/jdk/bin/java tools/jdk/lib/modules
";

/// A home with all these files, in which the project lies, too.
fn furnished(scene: Scene) -> Scene {
    let home = scene.path("home");
    for name in PRIVATE.split_whitespace() {
        write(&home.join(name), SECRET);
    }
    for name in NEEDED.split_whitespace() {
        write(&home.join(name), "# needed\n");
    }
    for name in [".local/bin/tool", "tools/jdk/bin/java"] {
        write(&home.join(name), "#!/bin/sh\necho needed\n");
    }
    let paths = std::env::var("PATH").unwrap();
    let path = format!("{0}/.local/bin:{0}/tools/jdk/bin:{paths}", home.display());
    let account = Account { home: Some(home), path: path.clone().into(), ..Account::default() };
    let mut scene = scene.with(|rules| {
        let told = rules.clone();
        *rules = Config::default().rules(told.workspace, &account);
        rules.namespaces = told.namespaces;
    });
    scene.env.retain(|(name, _)| name != "PATH");
    scene.env.push(("PATH".to_owned(), path));
    scene
}

fn write(path: &Path, content: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn nothing_private_in_a_home_can_be_read_and_everything_that_tools_need_can() {
    let count = PRIVATE.split_whitespace().count();
    assert!(count > 240, "{count}");
    for scene in Scene::for_everybody().into_iter().map(furnished) {
        let private = scene.run("cd $HOME; find . -type f -exec cat {} + 2>/dev/null; true");
        assert!(!private.stdout.contains(SECRET), "{}", private.stdout);
        let each = PRIVATE.split_whitespace().map(|name| format!("cat ~/{name} 2>/dev/null && echo LEAK {name}\n"));
        let each = scene.run(&each.collect::<String>());
        assert!(!each.stdout.contains("LEAK") && !each.stdout.contains(SECRET), "{}", each.stdout);
        let needed = NEEDED.split_whitespace().map(|name| format!("cat ~/{name} >/dev/null || echo CLOSED {name}\n"));
        let needed = scene.run(&(needed.collect::<String>() + "tool && java"));
        assert_eq!(needed.stdout, "needed\nneeded\n", "{needed:#?}");
        let enforced = needed.enforced();
        assert!(enforced.closed.contains(&scene.path("home").display().to_string()), "{enforced:?}");
        assert!(enforced.shown.contains(&scene.path("home/.rustup").display().to_string()), "{enforced:?}");
        assert!(enforced.to_show_more.contains("sandbox.toml"), "{enforced:?}");
    }
}

#[test]
fn homes_of_others_devices_and_sockets_of_the_session_are_closed() {
    let scene = Scene::new();
    let done = scene.run("true");
    for closed in ["/root", "/dev"] {
        assert!(done.enforced().closed.contains(&closed.to_owned()), "{done:#?}");
    }
    let disks = "for d in /dev/*; do [ -b $d ] && head -c 1 $d && echo READ $d; done 2>/dev/null; \
                 head -c 1 /dev/mem && echo READ; head -c 1 /dev/urandom | wc -c; exit 0";
    assert_eq!(scene.run(disks).stdout, "1\n");
}

#[test]
fn settings_show_more_and_hide_more() {
    let scene = furnished(Scene::new());
    let home = scene.path("home");
    let account = Account { home: Some(home), ..Account::current() };
    let text =
        "show = ['~/other-project', '~/.npmrc', '~/.ssh/id_rsa']\nhide = ['~/.cache/pip', '~/other-project/hidden']";
    fs::write(scene.path("sandbox.toml"), text).unwrap();
    write(&scene.path("home/other-project/hidden/x"), SECRET);
    write(&scene.path("home/.ssh/other"), SECRET);
    let rules = Config::read(&scene.place).unwrap().rules(scene.rules.workspace.clone(), &account);
    let scene = scene.with(|own| *own = rules);
    scene.run("cd; cat other-project/src/main.rs .npmrc .ssh/id_rsa").is_well();
    let done = scene.run("cd; cat other-project/hidden/x .ssh/other diary .cache/pip/x");
    assert_eq!(done.stdout, "", "{done:#?}");
}

/// A program could put a link in place of something that tools need.
#[test]
fn a_link_that_a_program_made_shows_nothing() {
    let scene = furnished(Scene::new());
    let (go, home) = (scene.path("home/go"), scene.path("home"));
    let scene = scene.with(|rules| rules.write.push(go.clone()));
    scene.run("rm -r ~/go/pkg && ln -s $HOME/Documents ~/go/pkg && ln -s $HOME/other-project tool").is_well();
    let done = scene.run("cat ~/go/pkg/taxes.pdf tool/src/main.rs");
    assert_eq!(done.stdout, "", "{done:#?}");
    // The same for the program that is started, and for a `PATH` that leads into the workspace.
    symlink(home.join("diary"), scene.work("program")).unwrap();
    let done = scene.start_order(&scene.order(&["/bin/cat", "program"])).done();
    assert_eq!(done.stdout, "", "{done:#?}");
    let program = scene.work("program").display().to_string();
    let done = scene.start_order(&scene.order(&[&program])).done();
    assert!(done.not_started.is_some(), "{done:#?}");
}

#[test]
fn git_works_with_the_settings_of_a_person_and_does_not_show_their_credentials() {
    for scene in Scene::for_everybody().into_iter().map(furnished) {
        let account = Account { home: Some(scene.path("home")), ..Account::current() };
        let again = |scene: Scene| {
            scene.with(|rules| {
                let told = rules.clone();
                *rules = Config::default().rules(told.workspace, &account);
                rules.namespaces = told.namespaces;
            })
        };
        let commit =
            "git init -q . && echo x > f && git add f && git commit -qm one && git log --format=%an; rm -rf .git";
        fs::write(scene.path("home/.gitconfig"), "[user]\nname = Ada\nemail = a@b\n").unwrap();
        let scene = again(scene);
        assert_eq!(scene.run(commit).stdout, "Ada\n");
        let settings = format!("[user]\nname = Bob\nemail = a@b\n[url \"https://x:{SECRET}@h/\"]\ninsteadOf = y\n");
        fs::write(scene.path("home/.gitconfig"), settings).unwrap();
        let scene = again(scene);
        let done = scene.run(&format!("cat ~/.gitconfig; git config --list; {commit}"));
        assert!(done.stdout.ends_with("Bob\n") && !done.stdout.contains(SECRET), "{done:#?}");
    }
}

#[test]
fn bubblewrap_closes_the_home_too() {
    let scene = furnished(Scene::new().with(|rules| rules.sandbox = Kind::Bubblewrap));
    let scene = scene.with(|rules| rules.sandbox = Kind::Bubblewrap);
    if !has("bwrap") {
        return;
    }
    let done = scene.run("cd; cat diary .env .netrc; cat .editorconfig && tool && echo x > $OLDPWD/made");
    if done.not_started.is_none() {
        assert_eq!(done.stdout, "# needed\nneeded\n", "{done:#?}");
    }
}

/// Toolchains that are installed in the home of the person who runs the tests.
#[test]
fn toolchains_in_a_home_work() {
    let cases = [
        (
            "cargo",
            "mkdir -p src && printf '[package]\\nname=\"x\"\\nversion=\"0.1.0\"\\nedition=\"2024\"\\n[workspace]\\n' > Cargo.toml && echo 'fn main(){}' > src/main.rs && cargo build --offline -q && ./target/debug/x",
        ),
        ("python3", "python3 -m venv --without-pip v && . v/bin/activate && python -c 'import ssl, json, sqlite3'"),
        (
            "npm",
            "npm init -y >/dev/null 2>&1; npm_config_cache=$TMPDIR npm pack --dry-run --offline >/dev/null 2>&1 && node -e 'require(\"fs\").readdirSync(\".\")'",
        ),
        (
            "go",
            "printf 'package main\\nfunc main(){}\\n' > m.go && GOCACHE=$TMPDIR/c GOFLAGS=-mod=mod go build -o x m.go && ./x",
        ),
    ];
    for (program, script) in cases.into_iter().filter(|(program, _)| has(program)) {
        for plain in [false, true] {
            let account = Account::current();
            let scene = if plain { Scene::new().plain() } else { Scene::new() };
            let mut scene = scene.with(|rules| {
                let told = rules.clone();
                *rules = Config::default().rules(told.workspace, &account);
                rules.namespaces = told.namespaces;
            });
            scene.env.retain(|(name, _)| name != "HOME");
            scene.env.push(("HOME".into(), std::env::var("HOME").unwrap_or_else(|_| "/".into())));
            let done = scene.run(script);
            assert_eq!(done.ended().code, Some(0), "{program}: {done:#?}");
        }
    }
}
