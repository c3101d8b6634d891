//! The security of the server: hosts, origins, tokens, sessions, roles and folders.

use serde_json::json;

use super::scene::Scene;

#[test]
fn requests_for_other_hosts_and_from_other_pages_are_refused() {
    let scene = Scene::new("1h");
    let token = format!("Authorization: Bearer {}", scene.token("admin"));
    let ask = |headers: &[&str]| scene.send("GET", "/api/v1/runs", headers, "").status;
    assert_eq!(ask(&[&token]), 200);
    assert_eq!(ask(&[&token, "Host: evil.example"]), 421);
    assert_eq!(ask(&[&token, "Origin: http://evil.example"]), 403);
    assert_eq!(ask(&[&token, "Origin: null"]), 403);
    assert_eq!(ask(&[]), 401);
    assert_eq!(ask(&["Authorization: Bearer wrong"]), 401);
    assert_eq!(ask(&["Authorization: Basic eDp5"]), 401);
}

#[test]
fn each_role_can_do_no_more_than_its_part() {
    let scene = Scene::new("1h");
    let [viewer, agent, operator] = ["viewer", "agent", "operator"].map(|role| scene.token(role));
    assert_eq!(scene.start_gate(&viewer, "v").status, 403);
    assert_eq!(scene.start_gate(&agent, "g").status, 201);
    for token in [&viewer, &agent] {
        for (path, body) in [
            ("/runs/g/events", json!({ "event": "open", "data": { "note": "x" } })),
            ("/runs/g/grant", json!({ "scopes": ["fs.write:x"] })),
            ("/runs/g/pause", json!(null)),
            ("/runs/g/abort", json!(null)),
            ("/runs/g/fork", json!({ "at": 1 })),
            ("/runs/g/undo", json!({ "dry_run": true })),
        ] {
            assert_eq!(scene.post(token, path, body).status, 403, "{path}");
        }
    }
    assert_eq!(
        scene.post(&agent, "/runs/g/events", json!({ "event": "knock" })).status,
        200,
        "the machine takes it from runs"
    );
    assert_eq!(
        scene.post(&operator, "/runs/g/events", json!({ "event": "open", "data": { "note": "x" } })).status,
        200
    );
}

#[test]
fn a_login_code_works_once_and_gives_a_cookie_for_this_page_only() {
    let scene = Scene::new("1h");
    let origin = format!("Origin: http://{}", scene.address);
    let log_in = || scene.send("POST", "/api/v1/session", &[&origin], &json!({ "code": scene.code }).to_string());
    let first = log_in();
    assert_eq!((first.status, first.json()["role"].clone()), (200, json!("admin")));
    let head = first.head.to_lowercase();
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap().to_owned();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    assert_eq!(log_in().status, 401, "a code works once");
    let cookie = first.head.lines().find_map(|line| line.split_once("interlock_session=")).unwrap().1;
    let cookie = format!("Cookie: interlock_session={}", cookie.split(';').next().unwrap());
    assert_eq!(scene.send("GET", "/api/v1/runs", &[&cookie], "").status, 200);
    assert_eq!(scene.send("POST", "/api/v1/session/end", &[&cookie], "").status, 403, "without an origin");
    assert_eq!(scene.send("POST", "/api/v1/session/end", &[&cookie, &origin], "").status, 200);
    assert_eq!(scene.send("GET", "/api/v1/runs", &[&cookie], "").status, 401, "the session has ended");
}

#[test]
fn a_token_that_is_removed_is_refused_at_once() {
    let scene = Scene::new("1h");
    let token = scene.session.run("token add ci --role viewer").unwrap().stdout.trim().to_owned();
    assert_eq!(scene.get(&token, "/runs").status, 200);
    assert!(scene.session.run("token").unwrap().stdout.contains("viewer"));
    scene.session.run("token remove ci").unwrap();
    assert_eq!(scene.get(&token, "/runs").status, 401);
}

#[test]
fn runs_start_only_in_the_folders_that_are_named() {
    let scene = Scene::new("1h");
    let token = scene.token("admin");
    let home = scene.session.folder().join("home").display().to_string();
    for folder in ["/", "/etc", &home, &format!("{}/..", scene.project())] {
        let body = json!({ "machine": "gate", "folder": folder, "input": { "change": "x" } });
        assert_eq!(scene.post(&token, "/runs", body).status, 409, "{folder}");
    }
}

#[test]
fn answers_carry_the_headers_that_limit_a_browser() {
    let scene = Scene::new("1h");
    let page = scene.send("GET", "/", &[], "");
    assert_eq!(page.status, 200);
    for line in
        ["x-content-type-options: nosniff", "referrer-policy: no-referrer", "content-type: text/html; charset=utf-8"]
    {
        assert!(page.has_header(line), "{line}: {}", page.head);
    }
    let policy = page.head.lines().find(|line| line.to_lowercase().starts_with("content-security-policy")).unwrap();
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let token = scene.token("operator");
    scene.start_gate(&token, "g1");
    let report = scene.get(&token, "/runs/g1/report");
    assert!(report.head.to_lowercase().contains("content-disposition: attachment"), "{}", report.head);
    assert!(report.head.contains("sandbox"), "{}", report.head);
}

#[test]
fn bad_bodies_are_refused_with_a_reason() {
    let scene = Scene::new("1h");
    let token = format!("Authorization: Bearer {}", scene.token("admin"));
    let ask = |body: &str| {
        let answer = scene.send("POST", "/api/v1/runs", &[&token], body);
        (answer.status, answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    for body in ["{", "[]", "{\"machine\":1}", "{\"machine\":\"gate\",\"folder\":\"/\",\"colour\":1}"] {
        let (status, message) = ask(body);
        assert!((400..=422).contains(&status) && !message.is_empty(), "{body}: {status} {message}");
    }
    assert_eq!(ask(&format!("{{\"machine\":\"{}\"}}", "x".repeat(2_000_000))).0, 413);
}

#[test]
fn guessing_tokens_becomes_slow() {
    let scene = Scene::new("1h");
    let mut answers = (0..40).map(|_| scene.send("GET", "/api/v1/runs", &["Authorization: Bearer wrong"], "").status);
    assert!(answers.any(|status| status == 429));
}

#[test]
fn other_computers_reach_the_server_with_tls_only() {
    let scene = Scene::new("1h");
    let refused = scene.session.run("serve --listen 0.0.0.0:0").unwrap();
    assert!(refused.stderr.contains("can be reached from other computers"), "{}", refused.stderr);
    let certificate = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
         -addext subjectAltName=IP:127.0.0.1 2>/dev/null";
    scene.session.run_shell(certificate).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let origin = format!("https://127.0.0.1:{port}");
    let serve = format!(
        "serve --listen 0.0.0.0:{port} --folder project --tls-cert cert.pem --tls-key key.pem --origin {origin}"
    );
    let mut server = scene.session.command(&serve).spawn().unwrap();
    let token = scene.token("viewer");
    let ask = format!(
        "for i in $(seq 300); do curl --silent --fail --cacert cert.pem -H 'Authorization: Bearer {token}' {origin}/api/v1/session && break; sleep 0.1; done"
    );
    let answered = scene.session.run_shell(&ask).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(answered.stdout.contains("viewer"), "{}{}", answered.stdout, answered.stderr);
}
