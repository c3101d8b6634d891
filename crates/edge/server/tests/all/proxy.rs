//! The page behind proxies: nginx with its default settings passes events on at once, and a proxy that holds everything
//! back is noticed.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::scene::Scene;

/// An nginx of its own, with nothing set but the address that it passes requests on to.
struct Nginx {
    child: Child,
    _folder: tempfile::TempDir,
    address: String,
}

impl Nginx {
    /// Starts nginx. Returns `None` where it is not installed, except where all parts are required.
    fn start(server: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let own = folder.path().display();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {own}/{name};"))
            .concat();
        let settings = format!(
            "daemon off; pid {own}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{server}; }} }} }}\n"
        );
        std::fs::write(folder.path().join("nginx.conf"), settings).unwrap();
        let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
        let mut nginx = Command::new("nginx");
        nginx
            .env("PATH", &path)
            .arg("-p")
            .arg(folder.path())
            .args(["-e", "stderr", "-c"])
            .arg(folder.path().join("nginx.conf"));
        let Ok(child) = nginx.stdin(Stdio::null()).stdout(Stdio::null()).spawn() else {
            let is_needed = ["CI", "INTERLOCK_REQUIRE_PARTS"].iter().any(|name| std::env::var_os(name).is_some());
            assert!(!is_needed, "nginx is not installed");
            eprintln!("skipped: nginx is not installed");
            return None;
        };
        let nginx = Nginx { child, _folder: folder, address: format!("127.0.0.1:{port}") };
        for _ in 0..500 {
            if TcpStream::connect(&nginx.address).is_ok() {
                return Some(nginx);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("nginx does not listen");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with the master, which must be asked.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

#[test]
fn behind_nginx_with_its_default_settings_the_page_is_live() {
    let Some(scene) = Scene::new() else { return };
    let Some(nginx) = Nginx::start(scene.address()) else { return };
    scene.start_gate("g1");
    let token = scene.run(&["token", "add", "n", "--role", "viewer"]);
    // Events arrive although the answer never ends and no buffer is ever full.
    let mut stream = TcpStream::connect(&nginx.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "GET /api/v1/events?since=0 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        scene.address(),
        token.trim()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut heard, mut piece) = (String::new(), [0; 4096]);
    while !heard.contains("\"run\":\"g1\"") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    scene.run(&["send", "g1", "knock"]);
    while !heard.contains("\"place\":\"heard\"") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
}

/// Passes requests on, and holds every answer to a stream back for ever, as a proxy with a large buffer does.
fn holding_back(server: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = server.clone();
            std::thread::spawn(move || pass_on(client, &server));
        }
    });
    address
}

/// Passes one request on. Its connection is closed after the answer, so that each request has its own.
fn pass_on(mut client: TcpStream, server: &str) {
    let (mut request, mut piece) = (Vec::new(), [0; 16_384]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(read) if read > 0 => request.extend(&piece[..read]),
            _ => return,
        }
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let is_kept = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_lowercase();
        !["host", "connection", "origin"].contains(&name.as_str())
    };
    let head: Vec<&str> = head.lines().filter(is_kept).collect();
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let mut body = body.as_bytes().to_vec();
    while body.len() < length.unwrap_or(0) {
        let Ok(read) = client.read(&mut piece) else { return };
        body.extend(&piece[..read]);
    }
    let Ok(mut upstream) = TcpStream::connect(server) else { return };
    let head =
        format!("{}\r\nHost: {server}\r\nOrigin: http://{server}\r\nConnection: close\r\n\r\n", head.join("\r\n"));
    let _ = upstream.write_all(&[head.as_bytes(), &body].concat());
    // An event stream does not end, so nothing of it is passed on.
    let mut answer = Vec::new();
    let _ = upstream.read_to_end(&mut answer);
    let _ = client.write_all(&answer);
}

#[test]
fn a_stream_without_a_sign_of_life_is_called_stale_and_the_page_goes_on() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let proxy = holding_back(scene.address().to_owned());
    let browser = &scene.browser;
    // The cookie of a login belongs to the host, whatever the port.
    browser.open(&format!("http://{proxy}/runs/g1"));
    browser.until("document.querySelector('[data-state=closed].lit')");
    browser.until_text(".past", "not live");
    assert_eq!(browser.value("document.querySelectorAll('.live-mark').length"), 0);
    browser.until("!document.querySelector('.banner').hidden");
    browser.until_text(".banner", "No sign of life");
    // It still fetches its data, only later.
    scene.run(&["send", "g1", "knock"]);
    browser.until("document.querySelector('[data-state=heard].lit')");
}
