//! Attacks on the server: each must fail.

use std::{
    io::{BufRead as _, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use super::scene::{GATE, Scene};

/// The roles in rising order, and the least role that each action needs. Everything else is reading.
const ROLES: [&str; 4] = ["viewer", "agent", "operator", "admin"];
const ACTIONS: [(&str, &str); 10] = [
    ("/runs", "agent"),
    ("/runs/{run}/events", "agent"),
    ("/runs/{run}/grant", "operator"),
    ("/runs/{run}/pause", "operator"),
    ("/runs/{run}/resume", "operator"),
    ("/runs/{run}/abort", "operator"),
    ("/runs/{run}/fork", "operator"),
    ("/runs/{run}/undo", "operator"),
    ("/session", "none"),
    ("/session/end", "viewer"),
];

#[test]
fn every_endpoint_answers_the_roles_that_it_is_for_and_no_other() {
    let scene = Scene::new("1h");
    let tokens = ROLES.map(|role| scene.token(role));
    scene.start_gate(&tokens[3], "g1");
    let document = scene.get(&tokens[0], "/openapi.json").json();
    let mut checked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.strip_prefix("/api/v1").unwrap();
        for (method, described) in methods.as_object().unwrap() {
            let least = match method.as_str() {
                "get" => "viewer",
                _ => ACTIONS.iter().find(|(action, _)| *action == path).unwrap_or_else(|| panic!("{path} is new")).1,
            };
            assert_eq!(described["x-role"], least, "{method} {path}");
            check_endpoint(&scene, &tokens, (method, path), least);
            checked += 1;
        }
    }
    assert!(checked >= 33, "{checked}");
}

fn check_endpoint(scene: &Scene, tokens: &[String; 4], (method, path): (&str, &str), least: &str) {
    let mut real = path.to_owned();
    for (name, value) in [("{run}", "g1"), ("{hash}", "00"), ("{machine}", "gate"), ("{record}", "1")] {
        real = real.replace(name, value);
    }
    // The stream of events does not end by itself.
    if path == "/events" {
        assert_eq!(scene.send("GET", "/api/v1/events", &[], "").status, 401);
        return;
    }
    let (method, real) = (method.to_uppercase(), format!("/api/v1{real}"));
    let body = if method == "POST" { "{\"unknown\":1}" } else { "" };
    let needs = ROLES.iter().position(|role| *role == least);
    let without = scene.send(&method, &real, &[], body);
    assert_eq!(without.status == 401, needs.is_some(), "{method} {path} without a token: {without:?}");
    for (at, token) in tokens.iter().enumerate() {
        // These end what the next role needs.
        let is_final = ["/runs/{run}/abort", "/session"].contains(&path) && needs.is_some_and(|needs| at >= needs);
        if is_final {
            continue;
        }
        let answer = scene.send(&method, &real, &[&format!("Authorization: Bearer {token}")], body);
        let is_refused = answer.status == 403 || answer.status == 401;
        let is_due = needs.is_some_and(|needs| at < needs);
        assert_eq!(is_refused, is_due, "{method} {path} as {}: {answer:?}", ROLES[at]);
        assert!(answer.status != 500, "{method} {path} as {}: {answer:?}", ROLES[at]);
    }
}

#[test]
fn other_names_for_this_address_are_refused_everywhere() {
    let scene = Scene::new("1h");
    let port = scene.address.rsplit(':').next().unwrap().to_owned();
    let token = format!("Authorization: Bearer {}", scene.token("admin"));
    for path in ["/", "/page/app.js", "/api/v1/runs", "/api/v1/events", "/mcp"] {
        for host in ["evil.example", "127.0.0.1", "localhost", "127.0.0.1.evil.example", "0.0.0.0:1", ""] {
            let answer = scene.send("GET", path, &[&token, &format!("Host: {host}")], "");
            assert_eq!(answer.status, 421, "{path} {host}");
        }
    }
    let known = scene.send("GET", "/api/v1/session", &[&token, &format!("Host: localhost:{port}")], "");
    assert_eq!(known.status, 200);
}

#[test]
fn a_page_of_another_site_can_send_nothing_with_the_cookie_of_this_one() {
    let scene = Scene::new("1h");
    let origin = format!("Origin: http://{}", scene.address);
    let body = json!({ "code": scene.code }).to_string();
    let planted = "Cookie: interlock_session=planted";
    let first = scene.send("POST", "/api/v1/session", &[&origin, planted], &body);
    let session = first.head.split("interlock_session=").nth(1).unwrap().split(';').next().unwrap().to_owned();
    assert_ne!(session, "planted", "a session that somebody has planted is not taken over");
    assert_eq!(scene.send("GET", "/api/v1/runs", &[planted], "").status, 401);
    let cookie = format!("Cookie: interlock_session={session}");
    let start = json!({ "machine": "gate", "folder": scene.project(), "input": { "change": "x" } }).to_string();
    let foreign: [&[&str]; 5] = [
        &[],
        &["Origin: http://evil.example"],
        &["Origin: null"],
        &["Sec-Fetch-Site: cross-site"],
        &["Sec-Fetch-Site: same-site"],
    ];
    for headers in foreign {
        let headers = [&[cookie.as_str()], headers].concat();
        for path in ["/api/v1/runs", "/mcp", "/api/v1/session/end"] {
            assert_eq!(scene.send("POST", path, &headers, &start).status, 403, "{headers:?} {path}");
        }
    }
    // Forms can send only other types of content.
    let own = [cookie.as_str(), &origin, "Content-Type: text/plain"];
    let mut stream = TcpStream::connect(&scene.address).unwrap();
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\nContent-Length: {}\r\n\r\n{start}",
        scene.address,
        own.join("\r\n"),
        start.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 415"), "{answer}");
    assert_eq!(scene.get(&scene.token("viewer"), "/runs").json()["runs"], json!([]));
}

#[test]
fn tokens_are_accepted_in_their_header_only_and_are_written_nowhere() {
    let scene = Scene::new("1h");
    let token = scene.token("admin");
    for path in [format!("/api/v1/runs?token={token}"), format!("/api/v1/events?access_token={token}")] {
        assert_eq!(scene.send("GET", &path, &[], "").status, 401, "{path}");
    }
    assert_eq!(scene.send("GET", "/api/v1/runs", &[&format!("Cookie: interlock_session={token}")], "").status, 401);
    scene.start_gate(&token, "g1");
    scene.post(&token, "/session", json!({ "token": token }));
    let found =
        scene.session.run_shell(&format!("grep -rlaF -e {token} -e {} home project || true", scene.code)).unwrap();
    assert_eq!(found.stdout, "", "secrets are stored as hashes");
}

#[test]
fn paths_lead_nowhere_else() {
    let scene = Scene::new("1h");
    let token = scene.token("admin");
    scene.start_gate(&token, "g1");
    for path in [
        "/page/../Cargo.toml",
        "/page/..%2f..%2fCargo.toml",
        "/page/%2e%2e/%2e%2e/Cargo.toml",
        "/page//etc/passwd",
        "/api/v1/runs/..%2f..%2faccess.json/evidence",
        "/api/v1/runs/g1/evidence/..%2f..%2faccess.json",
        "/api/v1/runs/g1/evidence/%2fetc%2fpasswd",
        "/api/v1/runs/g1%2f..%2fg1",
        "/api/v1/machines/..%2fgate",
    ] {
        let answer = scene.send("GET", path, &[&format!("Authorization: Bearer {token}")], "");
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    std::os::unix::fs::symlink("/tmp", scene.session.folder().join("project/link")).unwrap();
    for folder in ["project/link", "project/../home", "project/link/..", "/proc/self/cwd"] {
        let folder = scene.session.folder().join(folder).display().to_string();
        let body = json!({ "machine": "gate", "folder": folder, "input": { "change": "x" } });
        assert_eq!(scene.post(&token, "/runs", body).status, 409, "{folder}");
        for path in ["/machines", "/machines/gate", "/machines/gate/picture", "/agents", "/judges"] {
            assert_eq!(scene.get(&token, &format!("{path}?folder={folder}")).status, 409, "{path} {folder}");
        }
    }
}

#[test]
fn a_client_that_sends_slowly_is_cut_off_and_delays_nobody() {
    let scene = Scene::new("1h");
    let token = scene.token("viewer");
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&scene.address).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /api/v1/runs HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    }
    let mut body = TcpStream::connect(&scene.address).unwrap();
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{{",
        scene.address
    );
    body.write_all(head.as_bytes()).unwrap();
    body.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(scene.get(&token, "/runs").status, 200, "others are answered meanwhile");
    for stream in &mut slow {
        let mut rest = Vec::new();
        // A reset is an end, too.
        let _ = stream.read_to_end(&mut rest);
    }
    let mut answer = [0; 12];
    body.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    assert!(begun.elapsed() < Duration::from_secs(55), "{:?}", begun.elapsed());
}

/// Opens a connection and sends this text.
fn opened(scene: &Scene, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&scene.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // The server may close the connection at once.
    let _ = stream.write_all(text.as_bytes());
    stream
}

#[test]
fn connections_without_a_request_delay_nobody() {
    let scene = Scene::new("1h");
    let token = scene.token("viewer");
    // More than the server has room for.
    let half: Vec<TcpStream> = (0..620).map(|_| opened(&scene, "GET /api/v1/runs HTTP/1.1\r\nHost: x\r\n")).collect();
    let begun = Instant::now();
    for _ in 0..5 {
        assert_eq!(scene.get(&token, "/runs").status, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop(half);
}

#[test]
fn a_stranger_is_refused_before_its_body_is_read() {
    let scene = Scene::new("1h");
    for (path, length, status) in
        [("/api/v1/runs", 1_000_000, 401), ("/mcp", 1_000_000, 401), ("/api/v1/session", 100_000, 413)]
    {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n", scene.address);
        let mut stream = opened(&scene, &head);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
        assert!(answer.to_lowercase().contains("connection: close"), "{path}: {answer}");
    }
}

#[test]
fn a_stream_of_events_ends_with_its_token_and_with_its_session() {
    let scene = Scene::new("1h");
    let token = scene.session.run("token add ci --role viewer").unwrap().stdout.trim().to_owned();
    let login = scene.post(&token, "/session", json!({ "token": token }));
    let session = login.head.split("interlock_session=").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let open = |line: &str| {
        let mut stream = TcpStream::connect(&scene.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!("GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n{line}\r\n\r\n", scene.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = std::io::BufReader::new(stream);
        let mut line = String::new();
        while !line.contains("number") {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "the stream does not begin");
        }
        reader
    };
    let streams =
        [open(&format!("Authorization: Bearer {token}")), open(&format!("Cookie: interlock_session={session}"))];
    scene.session.run("token remove ci").unwrap();
    for mut stream in streams {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
    }
    let cookie = format!("Cookie: interlock_session={session}");
    assert_eq!(scene.send("GET", "/api/v1/runs", &[&cookie], "").status, 401);
}

#[test]
fn a_message_to_others_follows_no_redirect() {
    let scene = Scene::new("1h");
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let (target, address) = (elsewhere.local_addr().unwrap(), receiver.local_addr().unwrap());
    let session = &scene.session;
    session
        .write("other/notify.toml", &format!("[[notify]]\non = ['waiting']\nurl = 'http://{address}/hook'\n"))
        .unwrap();
    session.write("project/.interlock/machines/gate/machine.yaml", &GATE.replace("HOURS", "1h")).unwrap();
    let home = session.folder().join("other").display().to_string();
    let other = |arguments: &str| {
        let mut command = session.command(arguments);
        command.env("INTERLOCK_HOME", &home);
        command
    };
    let mut server = other("serve --listen 127.0.0.1:0 --folder project").spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !session.folder().join("other/outbox.sqlite").exists() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1_500));
    let started = other("run gate -s change=x --name g1").current_dir(scene.project()).output().unwrap();
    assert_eq!(started.status.code(), Some(4), "{started:?}");
    let (mut stream, _) = receiver.accept().unwrap();
    let mut piece = [0; 4096];
    let _ = stream.read(&mut piece).unwrap();
    let answer = format!("HTTP/1.1 307 Moved\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).unwrap();
    drop(stream);
    // The message is tried again at the same place, and never at the other.
    let (_stream, _) = receiver.accept().unwrap();
    assert!(elsewhere.accept().is_err(), "the redirect was followed");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_body_without_an_end_is_refused() {
    let scene = Scene::new("1h");
    let token = scene.token("admin");
    for path in ["/api/v1/runs", "/api/v1/session", "/mcp"] {
        let mut stream = TcpStream::connect(&scene.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
            scene.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let piece = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        // The server may close the connection before everything is written.
        let _ = (0..40).try_for_each(|_| stream.write_all(piece.as_bytes()));
        let mut answer = [0; 12];
        if stream.read_exact(&mut answer).is_ok() {
            assert_eq!(&answer, b"HTTP/1.1 413", "{path}");
        }
        assert_eq!(scene.get(&token, "/session").status, 200, "{path}");
    }
}

#[test]
fn messages_of_the_server_name_no_secret() {
    let scene = Scene::new("1h");
    let token = scene.token("viewer");
    let answers: Vec<Json> = vec![
        scene.send("GET", "/api/v1/runs", &["Authorization: Bearer s3cret-guess"], "").json(),
        scene.post(&token, "/session", json!({ "token": "s3cret-guess" })).json(),
        scene.post(&token, "/session", json!({ "code": "s3cret-guess" })).json(),
    ];
    for answer in answers {
        assert!(!answer.to_string().contains("s3cret"), "{answer}");
    }
}
