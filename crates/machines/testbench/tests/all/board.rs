//! Boards whose console is a real terminal, with a shell or a firmware behind it.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use interlock_activity::EffectClass;
use interlock_testbench::{Operation, Reset, Start, Stop, Trouble};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{LONG, Server, TestPlace, part, start, until};

/// A board that asks for a login and then runs a shell.
const SHELL: &str = r#"#!/bin/sh
while :; do
    echo "Booting board"
    while :; do
        printf 'login: '; read user || exit
        printf 'Password: '; stty -echo; read password; stty echo; echo
        [ "$user/$password" = "root/open sesame" ] && break
        echo "Login incorrect"
    done
    PS1='board# ' sh -i
done
"#;

/// A board without a shell: it boots when it receives `reset`, and then prints the output of its image.
const FIRMWARE: &str = r#"#!/bin/sh
while read line; do
    case "$line" in
    reset) echo "Booting fw"; . ./image ;;
    esac
done
"#;

/// A terminal with a board behind it.
struct Lab {
    folder: TempDir,
    port: PathBuf,
    /// Held open, so that the other side does not see the terminal closed.
    _open: File,
    _socat: Server,
}

impl Lab {
    async fn new(board: &str) -> Option<Self> {
        part("socat", "socat")?;
        let folder = TempDir::new().unwrap();
        let (script, port) = (folder.path().join("board.sh"), folder.path().join("tty"));
        fs::write(&script, board).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join("image"), "").unwrap();
        let terminal = format!("PTY,raw,echo=0,link={}", port.display());
        let program = format!("EXEC:{},pty,setsid,ctty,stderr,sane", script.display());
        let mut socat = Command::new("socat");
        socat.args([terminal, program]).current_dir(folder.path()).stderr(Stdio::null());
        // The board ends with its terminal.
        let socat = Server { child: socat.spawn().unwrap() };
        let open = until("the terminal", || File::options().read(true).write(true).open(&port).ok()).await;
        Some(Lab { folder, port, _open: open, _socat: socat })
    }

    fn serial(&self) -> Value {
        json!({ "port": self.port })
    }

    fn shell_config(&self) -> Value {
        json!({
            "name": "bench-1",
            "serial": self.serial(),
            "login": [{ "expect": "login: $", "send": "root" }, { "expect": "Password: ", "send": "open sesame" }],
            "prompt": "^board# $",
            "boot": "Booting board",
            "boot_sec": 30,
            "reset": { "send": "\nexit\n" },
        })
    }

    /// Sets the behaviour of the firmware at its boot.
    fn image(&self, script: &str) {
        fs::write(self.folder.path().join("image"), script).unwrap();
    }
}

/// Creates an environment with a shell on its console.
async fn shell(change: impl FnOnce(&mut Value)) -> Option<(Lab, TestPlace)> {
    let lab = Lab::new(SHELL).await?;
    let mut config = lab.shell_config();
    change(&mut config);
    let place = TestPlace::new("target_board", config);
    Some((lab, place))
}

#[tokio::test]
async fn board_login_works_and_commands_return_their_exit_codes() {
    let Some((_lab, place)) = shell(|_| ()).await else { return };
    let board = place.environment();
    assert_eq!(board.resources(), ["bench-1"]);
    board.setup(place.bench()).await.unwrap();
    let seen = board.health_check(place.bench()).await.unwrap();
    assert_eq!(seen, "its console shows the prompt");
    for (command, code) in [("true", 0), ("(exit 7)", 7), ("echo one; false", 1)] {
        let ran = place.run(start(command, LONG)).await.unwrap();
        assert_eq!(ran.stop, Stop::Exited { code }, "{command}: {}", place.file(&ran, "console.log"));
    }
    let ran = place
        .run(Start {
            args: vec!["it's".into(), "a b".into()],
            environment_vars: [("COLOUR".to_owned(), "dark red".to_owned())].into(),
            ..start("printf '<%s>' \"$COLOUR\"", LONG)
        })
        .await
        .unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 0 });
    let log = place.file(&ran, &ran.logs[0]);
    assert!(log.contains("<dark red>"), "{log}");
}

#[tokio::test]
async fn overdue_command_is_interrupted_and_the_next_one_runs() {
    let Some((_lab, place)) = shell(|_| ()).await else { return };
    let printing = "i=0; while [ $i -lt 1000 ]; do echo tick; i=$((i+1)); sleep 0.1; done";
    let ran = place.run(start(printing, Duration::from_secs(2))).await.unwrap();
    assert_eq!(ran.stop, Stop::TimedOut);
    let ran = place.run(start("sleep 1000", Duration::from_secs(2))).await.unwrap();
    assert!(matches!(ran.stop, Stop::Hung { .. }), "{:?}", ran.stop);
    let ran = place.run(Start { repetition: 2, ..start("echo still there", LONG) }).await.unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 0 });
    // A cancelled command ends at once, and it is interrupted too.
    let waiting = start("sleep 1000", LONG);
    let (ran, ()) = tokio::join!(place.run(waiting), async {
        let log = place.session.folder.join("runs/all-1/console.log");
        until("the command", || fs::read_to_string(&log).ok().filter(|log| log.matches("sleep 1000").count() > 1))
            .await;
        place.canceller.cancel();
    });
    assert_eq!(ran.unwrap_err(), Trouble::Cancelled);
}

#[tokio::test]
async fn board_that_reboots_during_a_command_is_lost_until_a_reset() {
    let Some((_lab, place)) = shell(|_| ()).await else { return };
    let ran = place.run(start("exit", Duration::from_secs(20))).await.unwrap();
    let why = "the board restarted while the command ran".to_owned();
    assert_eq!(ran.stop, Stop::Lost { why });
    let board = place.environment();
    let done = board.reset(place.bench(), Reset::Reset).await.unwrap();
    assert_eq!(done, "it was reset; its console shows the prompt");
}

#[tokio::test]
async fn wrong_logins_and_silent_consoles_are_reported() {
    let Some((_lab, place)) = shell(|config| {
        config["login"][1]["send"] = json!("guess");
        config["boot_sec"] = json!(3);
    })
    .await
    else {
        return;
    };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("bench-1 refuses the login") && told.contains("Login incorrect"), "{told}");
    let Some((_lab, place)) = shell(|config| {
        config["prompt"] = json!("never shown> $");
        config["login"] = json!([]);
        config["boot_sec"] = json!(1);
    })
    .await
    else {
        return;
    };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("shows no prompt within 1 seconds"), "{told}");
    let nowhere = TestPlace::new("target_board", json!({ "serial": { "port": "/dev/no-such-port" } }));
    let told = nowhere.environment().setup(nowhere.bench()).await.unwrap_err().to_string();
    assert!(told.contains("the console /dev/no-such-port"), "{told}");
    let secret = json!([{ "expect": "login: $", "send_env": "NO_SUCH_VARIABLE_IS_SET" }]);
    let Some((_lab, place)) = shell(|config| config["login"] = secret).await else { return };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("NO_SUCH_VARIABLE_IS_SET, which is not set"), "{told}");
}

#[tokio::test]
async fn files_and_command_output_are_fetched_over_the_console() {
    let Some((lab, place)) = shell(|config| {
        config["logs"] = json!([{ "name": "who.log", "command": "echo I am; echo the board" }]);
        config["artifacts"] = json!(["image"]);
    })
    .await
    else {
        return;
    };
    lab.image("one\ntwo\n");
    let board = place.environment();
    let logs = board.fetch_logs(place.bench()).await.unwrap();
    assert_eq!((logs.len(), logs[0].name.as_str(), logs[0].media_type.as_str()), (1, "who.log", "text/plain"));
    assert_eq!(fs::read_to_string(&logs[0].path).unwrap(), "I am\nthe board");
    let artifacts = board.fetch_artifacts(place.bench()).await.unwrap();
    assert_eq!(fs::read_to_string(&artifacts[0].path).unwrap(), "one\ntwo");
}

/// Creates an environment whose firmware boots at a reset.
async fn firmware(image: &str, change: impl FnOnce(&mut Value)) -> Option<(Lab, TestPlace)> {
    let lab = Lab::new(FIRMWARE).await?;
    lab.image(image);
    let mut config = json!({
        "serial": lab.serial(),
        "reset": { "send": "reset\n" },
        "boot": "^Booting fw",
        "end": "^EXIT (?P<code>-?[0-9]+)$",
    });
    change(&mut config);
    let place = TestPlace::new("target_board", config);
    Some((lab, place))
}

#[tokio::test]
async fn firmware_started_by_a_reset_ends_with_its_code_or_is_detected() {
    let check = async |image: &str, expected: Stop| {
        let Some((_lab, place)) = firmware(image, |config| config["silence_sec"] = json!(2)).await else { return };
        let ran = place.run(start("", Duration::from_secs(20))).await.unwrap();
        assert_eq!(ran.stop, expected, "{image}");
        assert!(place.file(&ran, "console.log").contains("Booting fw"));
    };
    check("echo test a: PASS; echo EXIT 0", Stop::Exited { code: 0 }).await;
    check("echo test a: FAIL; echo EXIT 3", Stop::Exited { code: 3 }).await;
    check("printf 'EXIT 1'; sleep 0.1; echo 39", Stop::Exited { code: 139 }).await;
    check("printf 'EXIT 2'", Stop::Exited { code: 2 }).await;
    check("echo test a: PASS; echo test b", Stop::Hung { place: "after `test b`".into() }).await;
    check("for i in 1 2 3 4; do echo Booting fw; done; sleep 10", Stop::BootLoop { boots: 5 }).await;
    let Some((_lab, place)) = firmware("echo HardFault pc=0x08000412; echo EXIT 139", |_| ()).await else { return };
    let ran = place.run(start("", LONG)).await.unwrap();
    assert_eq!(ran.stop, Stop::Exited { code: 139 });
    assert!(ran.faults[0].registers["pc"].contains("8000412"), "{:?}", ran.faults);
    let endless = "i=0; while [ $i -lt 300 ]; do echo tick; i=$((i+1)); sleep 0.1; done";
    let Some((_lab, place)) = firmware(endless, |_| ()).await else { return };
    let ran = place.run(start("", Duration::from_secs(2))).await.unwrap();
    assert_eq!(ran.stop, Stop::TimedOut);
}

#[tokio::test]
async fn boot_message_is_a_health_check() {
    let Some((_lab, place)) = firmware("echo up", |_| ()).await else { return };
    let seen = place.environment().health_check(place.bench()).await.unwrap();
    assert_eq!(seen, "its console shows `Booting fw`");
    let Some((_lab, place)) = firmware("echo up", |config| {
        config["boot"] = json!("never said");
        config["boot_sec"] = json!(1);
    })
    .await
    else {
        return;
    };
    let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("does not start"), "{told}");
}

#[tokio::test]
async fn image_is_flashed_by_a_command_and_failures_are_reported() {
    let lab = TempDir::new().unwrap();
    let target = lab.path().join("flash memory");
    fs::create_dir(&target).unwrap();
    let script = r#"cp "$1" "$3/fw.bin" && echo "$2" > "$3/port""#;
    let flash = json!({
        "command": ["sh", "-c", script, "flash", "{image}", "{board} at {port}", &target],
        "write": [&target],
    });
    let config = json!({ "name": "b-7", "serial": { "port": "tcp://127.0.0.1:9" }, "flash": flash });
    let place = TestPlace::new("target_board", config.clone()).with_image(b"\x7fELF {port}");
    let board = place.environment();
    assert_eq!(board.effect(Operation::Deploy), EffectClass::External);
    board.deploy(place.bench()).await.unwrap();
    assert_eq!(fs::read(target.join("fw.bin")).unwrap(), b"\x7fELF {port}");
    assert_eq!(fs::read_to_string(target.join("port")).unwrap(), "b-7 at tcp://127.0.0.1:9\n");
    let mut failing = config.clone();
    failing["flash"] = json!({ "command": ["sh", "-c", "echo no device found >&2; exit 4"] });
    let place = TestPlace::new("target_board", failing).with_image(b"");
    let told = place.environment().deploy(place.bench()).await.unwrap_err().to_string();
    assert_eq!(told, "`sh` ended with 4: no device found");
    let mut absent = config;
    absent["flash"] = json!({ "command": ["no-such-flasher"] });
    absent["serial"] = json!({ "port": lab.path().join("x") });
    let place = TestPlace::new("target_board", absent);
    let told = place.environment().setup(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("no program called `no-such-flasher`"), "{told}");
}

/// Starts a relay that answers to lines or to HTTP, and reports the lines that it received.
fn relay(answer: &'static str) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = mpsc::channel();
    // It ends when the receiver is dropped.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = stream.write_all(answer.as_bytes());
            if tell.send(line.trim().to_owned()).is_err() {
                return;
            }
        }
    });
    (port, told)
}

#[tokio::test]
async fn power_is_switched_by_commands_and_by_network_relays() {
    const OK: &str = "HTTP/1.1 204 No Content\r\n\r\n";
    const REFUSED: &str = "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nin use\r\n.";
    let Some((lab, _)) = shell(|_| ()).await else { return };
    let with = |power: Value| {
        let mut config = lab.shell_config();
        (config["power"], config["reset"]) = (power, Value::Null);
        TestPlace::new("target_board", config)
    };
    let (port, told) = relay(OK);
    let url = |what: &str| json!({ "url": format!("http://127.0.0.1:{port}/relay/1/{what}"), "method": "post" });
    let place = with(json!({ "on": url("on"), "off": url("off"), "off_sec": 0 }));
    let done = place.environment().reset(place.bench(), Reset::Restart).await.unwrap();
    assert_eq!(done, "its power was switched off and on; its console shows the prompt");
    let heard: Vec<_> = told.try_iter().collect();
    assert_eq!(heard, ["POST /relay/1/off HTTP/1.1", "POST /relay/1/on HTTP/1.1"]);

    let (port, told) = relay("cycled 1\r\n");
    let place =
        with(json!({ "cycle": { "tcp": format!("127.0.0.1:{port}"), "send": "cycle 1\r\n", "expect": "^cycled" } }));
    place.environment().reset(place.bench(), Reset::Restart).await.unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), "cycle 1");

    let place = with(json!({ "cycle": ["sh", "-c", "echo cycled $0 >> power.log", "{board}"] }));
    place.environment().reset(place.bench(), Reset::Restart).await.unwrap();
    let log = fs::read_to_string(place.session.folder.join("power.log")).unwrap();
    assert_eq!(log, "cycled bench-1\n");

    let (port, _told) = relay(REFUSED);
    let place = with(json!({ "cycle": { "url": format!("http://127.0.0.1:{port}/") } }));
    let told = place.environment().reset(place.bench(), Reset::Restart).await.unwrap_err().to_string();
    assert_eq!(told, "the relay at 127.0.0.1 answered 503: in use");
    let place = with(json!({}));
    let told = place.environment().reset(place.bench(), Reset::Restart).await.unwrap_err().to_string();
    assert!(told.contains("nothing can restart the board"), "{told}");
}

#[tokio::test]
async fn held_board_is_used_of_several() {
    let (Some(one), Some(other)) = (Lab::new(FIRMWARE).await, Lab::new(FIRMWARE).await) else { return };
    one.image("echo I am one; echo EXIT 1");
    other.image("echo I am the other; echo EXIT 2");
    let config = json!({
        "reset": { "send": "reset\n" },
        "end": "^EXIT (?P<code>[0-9]+)$",
        "boards": [{ "name": "one", "serial": one.serial() }, { "name": "other", "serial": other.serial() }],
    });
    let mut place = TestPlace::new("target_board", config);
    assert_eq!(place.environment().resources(), ["one", "other"]);
    for (name, code) in [("other", 2), ("one", 1)] {
        place.session.resource = Some(name.to_owned());
        let ran = place.run(start("", LONG)).await.unwrap();
        assert_eq!(ran.stop, Stop::Exited { code }, "{name}");
    }
    place.session.resource = Some("third".to_owned());
    let told = place.run(start("", LONG)).await.unwrap_err().to_string();
    assert_eq!(told, "`test_profile.config.boards` has none with the name `third`");
}

#[tokio::test]
async fn console_closed_during_a_run_is_lost() {
    let Some((lab, place)) = firmware("echo half a", |_| ()).await else { return };
    let log = place.session.folder.join("runs/all-1/console.log");
    let (ran, ()) = tokio::join!(place.run(start("", LONG)), async move {
        until("output", || fs::read_to_string(&log).ok().filter(|log| log.contains("half a"))).await;
        drop(lab);
    });
    assert_eq!(ran.unwrap().stop, Stop::Lost { why: "the console has closed".into() });
}
