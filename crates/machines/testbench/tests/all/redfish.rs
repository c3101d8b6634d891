//! Management controllers that speak Redfish: the emulator of sushy-tools, and its server of recorded pages.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
};

use interlock_testbench::{Reset, Trouble};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{Server, TestPlace, free_port, until};

const SYSTEM: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";

/// The hash of the value that the variable `CARGO_PKG_NAME` has in every test.
const HASH: &str = "$2b$04$60F8UdngvxX3x5iAxW.SZ.4x3Qo5XDuk/Rf3RGEnug0vV/S7GIBcm";

fn program(name: &str) -> Option<PathBuf> {
    let found = interlock_testkit_activity::parts::installed("redfish.sh")?.join("venv/bin").join(name);
    Some(found).filter(|file| file.is_file())
}

struct Emulator {
    _folder: TempDir,
    port: u16,
    _server: Server,
}

impl Emulator {
    /// Starts an emulator with lines added to its configuration.
    async fn new(more: impl FnOnce(&Path) -> String) -> Option<Self> {
        let program = program("sushy-emulator")?;
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let here = folder.path();
        let config = format!(
            "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = {port}\nSUSHY_EMULATOR_FAKE_DRIVER = True\n\
             SUSHY_EMULATOR_STATE_DIR = '{}'\n{}",
            here.display(),
            more(here)
        );
        fs::write(here.join("config"), config).unwrap();
        let log = File::create(here.join("log")).unwrap();
        let mut command = Command::new(program);
        command.args(["--fake", "--config"]).arg(here.join("config")).env("NO_PROXY", "*");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let server = Server { child };
        until("the emulator", || TcpStream::connect(("127.0.0.1", port)).ok()).await;
        Some(Emulator { _folder: folder, port, _server: server })
    }

    fn place(&self, more: Value) -> TestPlace {
        let mut config = json!({ "name": "node-1", "redfish": { "url": format!("http://127.0.0.1:{}", self.port) } });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        TestPlace::new("bmc", config)
    }

    /// Returns the current resource at a path.
    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

/// Serves one small image to every client.
fn images() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(10).flatten() {
            let lines = BufReader::new(&stream).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let _ = (&stream).write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nimage");
        }
    });
    port
}

#[tokio::test]
async fn power_media_and_boot_source_are_set_on_the_controller() {
    let Some(emulator) = Emulator::new(|_| String::new()).await else { return };
    let url = format!("http://127.0.0.1:{}/fw.iso", images());
    let place = emulator.place(json!({ "media": { "url": url }, "boot_from": "cd" })).with_image(b"image");
    let (bmc, system) = (place.environment(), format!("/redfish/v1/Systems/{SYSTEM}"));
    assert_eq!(emulator.get(&system)["PowerState"], "Off");
    bmc.setup(place.bench()).await.unwrap();
    assert_eq!(emulator.get(&system)["PowerState"], "On");
    assert_eq!(bmc.health_check(place.bench()).await.unwrap(), "its controller answers, power is On");
    bmc.deploy(place.bench()).await.unwrap();
    let drive = format!("{system}/VirtualMedia/Cd");
    assert_eq!(emulator.get(&drive)["Inserted"], true, "{}", emulator.get(&drive));
    // The medium that is already inserted is ejected first.
    bmc.deploy(place.bench()).await.unwrap();
    let done = bmc.reset(place.bench(), Reset::Restart).await.unwrap();
    assert_eq!(done, "its power was switched off and on; its controller answers, power is On");
    assert_eq!(emulator.get(&system)["Boot"]["BootSourceOverrideTarget"], "Cd");
    bmc.teardown(place.bench()).await.unwrap();
    assert_eq!(emulator.get(&drive)["Inserted"], false);
}

#[tokio::test]
async fn sensors_are_kept_and_missing_services_are_ignored() {
    let Some(emulator) = Emulator::new(|_| String::new()).await else { return };
    let place = emulator.place(json!({}));
    let bmc = place.environment();
    let kept = bmc.fetch_artifacts(place.bench()).await.unwrap();
    let sensors: Value = serde_json::from_slice(&fs::read(&kept[0].path).unwrap()).unwrap();
    let expected = json!({ "name": "CPU Temp", "value": 41.0, "unit": "Cel", "health": "OK" });
    assert_eq!((&*kept[0].name, &sensors[0]), ("sensors.json", &expected));
    let logs = bmc.fetch_logs(place.bench()).await.unwrap();
    assert_eq!(fs::read_to_string(&logs[0].path).unwrap(), "");
}

#[tokio::test]
async fn unsupported_controller_requests_are_reported() {
    let systems = "SUSHY_EMULATOR_FAKE_SYSTEMS = [{'uuid': 'u-1', 'name': 'one', 'power_state': 'On', 'nics': []}, \
                   {'uuid': 'u-2', 'name': 'two', 'power_state': 'On', 'nics': []}]\n";
    let Some(emulator) = Emulator::new(|_| systems.to_owned()).await else { return };
    let url = format!("http://127.0.0.1:{}", emulator.port);
    let check = async |redfish: Value, more: Value, expected: &str| {
        let place = emulator.place(more);
        let mut profile = place.session.profile.clone();
        profile.config["redfish"] = redfish.clone();
        let bmc = interlock_testbench::environment(&profile).unwrap();
        let told = bmc.reset(place.bench(), Reset::Reset).await.unwrap_err().to_string();
        assert!(told.contains(expected), "{redfish}: {told}");
    };
    check(json!({ "url": url }), json!({}), "`test_profile.config.redfish.system` is missing; there are u-").await;
    check(json!({ "url": url, "system": "three" }), json!({}), "is `three`, which 127.0.0.1 does not have").await;
    let tape = json!({ "boot_from": "tape" });
    check(json!({ "url": url, "system": "two" }), tape, "is `tape`; it can boot from Pxe, Cd, Hdd").await;
    let nobody = format!("http://127.0.0.1:{}", free_port());
    check(json!({ "url": nobody }), json!({}), "could not be reached").await;
    let place = emulator
        .place(json!({ "redfish": { "url": url, "system": "one" }, "media": { "url": url, "device": "tape" } }));
    let told = place.environment().deploy(place.bench()).await.unwrap_err().to_string();
    assert!(told.contains("`test_profile.config.media.device` is `tape`"), "{told}");
}

#[tokio::test]
async fn password_is_taken_from_the_environment() {
    let Some(emulator) = Emulator::new(|here| {
        let file = here.join("users");
        fs::write(&file, format!("admin:{HASH}\n")).unwrap();
        format!("SUSHY_EMULATOR_AUTH_FILE = '{}'\n", file.display())
    })
    .await
    else {
        return;
    };
    let url = format!("http://127.0.0.1:{}", emulator.port);
    let place = |name: &str| {
        let redfish = json!({ "url": url, "username": "admin", "password_env": name });
        emulator.place(json!({ "redfish": redfish }))
    };
    let known = place("CARGO_PKG_NAME");
    assert!(known.environment().health_check(known.bench()).await.is_ok());
    for (name, expected) in [("CARGO_PKG_VERSION", "answered 401"), ("NO_SUCH_VARIABLE_IS_SET", "is not set")] {
        let unknown = place(name);
        let told = unknown.environment().health_check(unknown.bench()).await.unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn untrusted_certificate_is_accepted_only_by_fingerprint() {
    let mut print = String::new();
    let emulator = Emulator::new(|here| {
        let (key, certificate) = (here.join("key.pem"), here.join("certificate.pem"));
        let mut openssl = Command::new("openssl");
        openssl.args("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bmc -keyout".split(' ')).arg(&key);
        assert!(openssl.arg("-out").arg(&certificate).stderr(Stdio::null()).status().unwrap().success());
        let said =
            Command::new("openssl").args("x509 -noout -fingerprint -sha256 -in".split(' ')).arg(&certificate).output();
        let said = String::from_utf8(said.unwrap().stdout).unwrap();
        print = said.trim().rsplit_once('=').unwrap().1.to_owned();
        format!("SUSHY_EMULATOR_SSL_CERT = '{}'\nSUSHY_EMULATOR_SSL_KEY = '{}'\n", certificate.display(), key.display())
    });
    let Some(emulator) = emulator.await else { return };
    let url = format!("https://127.0.0.1:{}", emulator.port);
    let place = |redfish: Value| emulator.place(json!({ "redfish": redfish }));
    let pinned = place(json!({ "url": url, "certificate_sha256": print }));
    assert!(pinned.environment().health_check(pinned.bench()).await.is_ok());
    for wrong in [json!({ "url": url }), json!({ "url": url, "certificate_sha256": "00".repeat(32) })] {
        let place = place(wrong);
        let told = place.environment().health_check(place.bench()).await.unwrap_err().to_string();
        assert!(told.contains("could not be reached") && told.contains("certificate"), "{told}");
    }
}

#[tokio::test]
async fn recorded_pages_of_a_larger_controller_are_understood() {
    let Some(program) = program("sushy-static") else { return };
    let (folder, port) = (TempDir::new().unwrap(), free_port());
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/redfish");
    let log = folder.path().join("log");
    let mut command = Command::new(program);
    command.args(["-i", "127.0.0.1", "-p", &port.to_string(), "-m"]).arg(pages).env("PYTHONUNBUFFERED", "1");
    let child = command.stdout(File::create(&log).unwrap()).stderr(Stdio::null()).spawn().unwrap();
    let _server = Server { child };
    until("the server", || TcpStream::connect(("127.0.0.1", port)).ok()).await;
    let redfish = json!({ "url": format!("http://127.0.0.1:{port}") });
    let place = TestPlace::new("bmc", json!({ "redfish": redfish, "boot_from": "usb" }));
    let bmc = place.environment();
    assert_eq!(bmc.resources(), ["127.0.0.1"]);
    let seen = bmc.health_check(place.bench()).await.unwrap();
    assert_eq!(seen, "its controller answers, power is On, console by SSH at port 2200, IPMI; Fan 1 is Critical");
    let logs = bmc.fetch_logs(place.bench()).await.unwrap();
    let expected = "2026-11-15T10:00:01Z [OK] System power on\n\
                    2026-11-15T10:00:05Z [Warning] Fan 1 below its threshold\n\
                    2026-11-15T10:00:07Z [Critical] Uncorrectable memory error in DIMM A1\n";
    assert_eq!(fs::read_to_string(&logs[0].path).unwrap(), expected);
    let done = bmc.reset(place.bench(), Reset::Reset).await.unwrap();
    assert!(done.starts_with("it was reset"), "{done}");
    // It has no ForceRestart; its allowed values are on another page.
    let heard = fs::read_to_string(&log).unwrap();
    assert!(heard.contains(r#"{"ResetType":"GracefulRestart"}"#) && heard.contains(r#""Usb""#), "{heard}");
}

/// Starts a controller that requires a session; it reports the requests that it received.
fn sessions() -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(50).flatten() {
            let mut reader = BufReader::new(&stream);
            let lines = reader.by_ref().lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let length =
                head.iter().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            reader.read_exact(&mut vec![0; length.unwrap_or(0)]).unwrap();
            let is_known = head.iter().any(|line| line.eq_ignore_ascii_case("x-auth-token: t0k3n"));
            let asked = head[0].trim_end_matches(" HTTP/1.1").to_owned();
            let (status, more, body) = match (asked.as_str(), is_known) {
                ("GET /redfish/v1/", _) => {
                    let links = json!({ "Sessions": { "@odata.id": "/redfish/v1/SS" } });
                    (200, "", json!({ "Links": links, "Systems": { "@odata.id": "/redfish/v1/Systems" } }))
                }
                ("POST /redfish/v1/SS", _) => {
                    (201, "X-Auth-Token: t0k3n\r\nLocation: http://bmc/redfish/v1/SS/7\r\n", json!({}))
                }
                ("GET /redfish/v1/Systems", true) => {
                    let member = json!({ "@odata.id": "/redfish/v1/Systems/1", "Id": "1", "PowerState": "On" });
                    (200, "", json!({ "Members": [member] }))
                }
                ("DELETE /redfish/v1/SS/7", true) => (204, "", Value::Null),
                _ => (401, "", json!({ "error": { "message": "who are you?" } })),
            };
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let _ = write!(&stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{more}\r\n{body}", body.len());
            let _ = tell.send(asked);
        }
    });
    (port, told)
}

#[tokio::test]
async fn redfish_session_is_created_used_and_deleted() {
    let (port, told) = sessions();
    let url = format!("http://127.0.0.1:{port}");
    let redfish = json!({ "url": url, "username": "a", "password_env": "CARGO_PKG_NAME", "auth": "session" });
    let place = TestPlace::new("bmc", json!({ "redfish": redfish }));
    let bmc = place.environment();
    bmc.setup(place.bench()).await.unwrap();
    let asked: Vec<_> = told.try_iter().collect();
    assert_eq!(asked[1], "POST /redfish/v1/SS");
    assert_eq!(asked.last().unwrap(), "DELETE /redfish/v1/SS/7", "{asked:?}");
    let place = TestPlace::new("bmc", json!({ "redfish": { "url": url } }));
    let refused = place.environment().setup(place.bench()).await.unwrap_err();
    assert!(
        matches!(&refused, Trouble::Environment(why) if why.contains("401") && why.contains("who are you?")),
        "{refused}"
    );
}

#[test]
fn profile_without_a_controller_is_refused() {
    let check = |config: Value, expected: &str| {
        let profile = serde_json::from_value(json!({ "env_type": "bmc", "config": config })).unwrap();
        let told = interlock_testbench::environment(&profile).err().unwrap().to_string();
        assert!(told.starts_with(&format!("`test_profile.config.{expected}")), "{told}");
    };
    check(json!({}), "redfish` is missing, and so is `ipmi`");
    check(json!({ "redfish": { "url": "bmc.example" } }), "redfish.url` must begin with http");
    check(json!({ "redfish": { "url": "https://b", "username": "x" } }), "redfish` must have both");
    check(
        json!({ "redfish": { "url": "https://b", "password": "x" } }),
        "redfish` cannot be used: unknown field `password`",
    );
    check(json!({ "redfish": { "url": "https://b", "certificate_sha256": "00" } }), "redfish.certificate_sha256`");
    check(
        json!({ "ipmi": { "host": "b" }, "power": { "cycle": ["x"] } }),
        "power` and `reset` are what the controller does",
    );
    check(json!({ "ipmi": { "host": "-x" } }), "ipmi.host` is `-x`");
    check(json!({ "ipmi": { "host": "b" }, "media": { "url": "http://x" } }), "media` needs `redfish`");
}
