//! A management controller that speaks IPMI: the simulator of OpenIPMI, with a firmware behind its serial-over-LAN
//! console.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use interlock_testbench::{Reset, Stop};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{LONG, Server, TestPlace, free_port, part, start, until};

/// The variable with the password: one that every test has in its environment.
const PASSWORD_ENV: &str = "CARGO_PKG_VERSION";

struct Lab {
    folder: TempDir,
    port: u16,
    _open: File,
    _sim: Server,
    _socat: Server,
}

impl Lab {
    async fn new() -> Option<Self> {
        part("socat", "socat")?;
        part("ipmitool", "ipmitool")?;
        part("ipmi_sim", "openipmi")?;
        let folder = TempDir::new().unwrap();
        let here = folder.path();
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/ipmi");
        for name in ["chassis.sh", "firmware.sh", "sim.emu"] {
            fs::copy(corpus.join(name), here.join(name)).unwrap();
        }
        fs::write(here.join("power"), "0\n").unwrap();
        fs::write(here.join("boots"), "").unwrap();
        fs::create_dir(here.join("state")).unwrap();
        // The simulator locks terminals by the last part of their names, for the whole computer.
        let tty = here.join(format!("tty-{}", here.file_name().unwrap().to_string_lossy().trim_start_matches('.')));
        let socat = terminal(&tty, &here.join("firmware.sh"));
        let open = until("the terminal", || File::options().read(true).write(true).open(&tty).ok()).await;
        let port = free_port();
        fs::write(here.join("lan.conf"), config(here, &tty, port)).unwrap();
        let mut sim = Command::new("ipmi_sim");
        sim.args(["-c", "lan.conf", "-f", "sim.emu", "-s", "state", "-n"]).current_dir(here);
        let sim = sim.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Some(Lab { folder, port, _open: open, _sim: Server { child: sim }, _socat: socat })
    }

    fn place(&self, more: Value) -> TestPlace {
        let ipmi = json!({
            "host": "127.0.0.1", "port": self.port, "username": "lab", "password_env": PASSWORD_ENV, "cipher_suite": 3,
        });
        let mut config = json!({ "name": "node-1", "ipmi": ipmi, "boot": "^Booting fw", "boot_sec": 30 });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        TestPlace::new("bmc", config)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

fn terminal(tty: &Path, program: &Path) -> Server {
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    let words = [
        format!("PTY,raw,echo=0,link={}", tty.display()),
        format!("EXEC:{},pty,setsid,ctty,stderr", program.display()),
    ];
    Server { child: Command::new("socat").args(words).stderr(Stdio::null()).spawn().unwrap() }
}

fn config(here: &Path, tty: &Path, port: u16) -> String {
    let password = std::env::var(PASSWORD_ENV).unwrap();
    let auths =
        ["callback", "user", "operator", "admin"].map(|who| format!("allowed_auths_{who} none md2 md5 straight\n"));
    format!(
        "name \"lab\"\nset_working_mc 0x20\nstartlan 1\naddr 127.0.0.1 {port}\npriv_limit admin\n{}\
         guid a123456789abcdefa123456789abcdef\nendlan\nchassis_control \"{}\"\nsol \"{}\" 115200\n\
         user 1 true \"\" \"test\" user 10 none md2 md5 straight\n\
         user 2 true \"lab\" \"{password}\" admin 10 none md2 md5 straight\n",
        auths.concat(),
        here.join("chassis.sh").display(),
        tty.display(),
    )
}

#[tokio::test]
async fn power_sensors_and_event_log_come_from_the_controller() {
    let Some(lab) = Lab::new().await else { return };
    let place = lab.place(json!({ "boot_from": "pxe", "boot": null }));
    let bmc = place.environment();
    assert_eq!(bmc.resources(), ["node-1"]);
    bmc.setup(place.bench()).await.unwrap();
    assert_eq!(lab.read("power"), "1\n");
    let seen = bmc.health_check(place.bench()).await.unwrap();
    assert_eq!(seen, "its controller answers, power is On");
    let done = bmc.reset(place.bench(), Reset::Restart).await.unwrap();
    assert_eq!(done, "its power was switched off and on; its controller answers, power is On");
    let orders = lab.read("orders.log");
    let set: Vec<_> = orders.lines().filter(|line| line.starts_with("set")).collect();
    assert_eq!(set, ["set power 1", "set boot pxe", "set power 0", "set power 1"]);
    let logs = bmc.fetch_logs(place.bench()).await.unwrap();
    let events = fs::read_to_string(&logs[0].path).unwrap();
    assert!(events.contains("Temperature CPU Temp") && events.contains("Asserted"), "{events}");
    let artifacts = bmc.fetch_artifacts(place.bench()).await.unwrap();
    let sensors: Value = serde_json::from_slice(&fs::read(&artifacts[0].path).unwrap()).unwrap();
    assert_eq!(sensors, json!([{ "name": "CPU Temp", "value": 96.0, "unit": "degrees C", "health": "ok" }]));
}

#[tokio::test]
async fn power_starts_a_firmware_whose_console_is_read_over_the_network() {
    let Some(lab) = Lab::new().await else { return };
    fs::write(lab.folder.path().join("image"), "test a: PASS\nEXIT 5\n").unwrap();
    let place = lab.place(json!({ "end": "^EXIT (?P<code>[0-9]+)$" }));
    let bmc = place.environment();
    bmc.setup(place.bench()).await.unwrap();
    let ran = place.run(start("", LONG)).await.unwrap();
    let log = place.file(&ran, "console.log");
    assert_eq!(ran.stop, Stop::Exited { code: 5 }, "{log}");
    assert!(log.contains("Booting fw") && log.contains("test a: PASS"), "{log}");
    fs::write(lab.folder.path().join("image"), "test a\n").unwrap();
    let ran = place.run(start("", Duration::from_secs(4))).await.unwrap();
    assert!(matches!(&ran.stop, Stop::Hung { place } if place.contains("test a")), "{:?}", ran.stop);
    assert!(lab.read("orders.log").contains("set reset"), "{}", lab.read("orders.log"));
}

#[tokio::test]
async fn wrong_password_is_reported_and_never_an_argument() {
    let Some(lab) = Lab::new().await else { return };
    let wrong = json!({
        "host": "127.0.0.1", "port": lab.port, "username": "lab", "password_env": "CARGO_PKG_NAME", "cipher_suite": 3,
    });
    let place = lab.place(json!({ "ipmi": wrong }));
    let told = place.environment().setup(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("ipmitool") && !told.contains("interlock-testbench"), "{told}");
    let place = lab.place(json!({ "ipmi": { "host": "127.0.0.1", "password_env": "NO_SUCH_VARIABLE_IS_SET" } }));
    let told = place.environment().setup(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("NO_SUCH_VARIABLE_IS_SET, which is not set"), "{told}");
}
