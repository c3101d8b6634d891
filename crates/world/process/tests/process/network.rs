//! `network: only`: a program reaches the listed hosts and nothing else, whatever it tries.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, UdpSocket},
    os::linux::net::SocketAddrExt,
    time::{Duration, Instant},
};

use interlock_activity::Outcome;
use interlock_process::{Destination, ProgramResult, Verdict, keep, run};
use interlock_sandbox::{Kind, Network};

use crate::trial::{GRACE, Trial, sandboxes};

/// Starts an HTTP server on loopback, outside of every sandbox, that answers every request with `hello`.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 4_096]);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        }
    });
    address
}

/// Plans a Python program that may reach only these hosts.
fn python(hosts: &[String], program: &str) -> Trial {
    let mut trial = Trial::of("");
    trial.plan.words = ["/usr/bin/env", "python3", "-c", program].map(Into::into).into();
    trial.plan.rules.network = Network::Only;
    trial.plan.rules.hosts = hosts.to_vec();
    trial.plan.timeout = Some(Duration::from_secs(60));
    trial
}

async fn ended(trial: &Trial) -> ProgramResult {
    run(&trial.attempt, &trial.plan).await.unwrap()
}

/// Runs a program and returns its output, its errors and the destinations that it asked for.
async fn output(trial: &Trial) -> (String, Vec<Destination>) {
    let mut ended = ended(trial).await;
    let [out, err] =
        [&mut ended.stdout, &mut ended.stderr].map(|stream| String::from_utf8(stream.content().unwrap()).unwrap());
    assert_eq!(err, "", "{out}");
    (out.trim().to_owned(), ended.confined.destinations)
}

fn verdicts(seen: &[Destination]) -> Vec<(String, Verdict)> {
    seen.iter().map(|one| (format!("{}:{}", one.host, one.port), one.verdict)).collect()
}

/// Defines `tried(f)`, which prints the result of a call or the name of its error.
const TRIED: &str = "
import errno, os, socket, struct, urllib.request
def tried(name, call):
    try: print(name, call())
    except urllib.error.HTTPError as e: print(name, e.code)
    except OSError as e:
        e = getattr(e, 'reason', e)
        print(name, errno.errorcode.get(getattr(e, 'errno', None), e))
def connected(family, kind, address):
    s = socket.socket(family, kind)
    s.settimeout(5)
    s.connect(address)
    return s
";

#[tokio::test]
async fn a_listed_loopback_port_is_reached_directly_and_through_the_proxy() {
    let server = server();
    for (sandbox, namespaces) in sandboxes() {
        let program = format!(
            "{TRIED}
tried('direct', lambda: urllib.request.urlopen('http://{server}/').read())
proxies = urllib.request.ProxyHandler({{'http': os.environ['HTTP_PROXY']}})
os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''
tried('proxy', lambda: urllib.request.build_opener(proxies).open('http://{server}/').read())"
        );
        let mut trial = python(&[server.to_string()], &program);
        (trial.plan.rules.sandbox, trial.plan.rules.namespaces) = (sandbox, namespaces);
        let (out, seen) = output(&trial).await;
        assert_eq!(out, "direct b'hello'\nproxy b'hello'", "{sandbox:?} {namespaces:?}");
        let [seen] = &seen[..] else { unreachable!("{seen:?}") };
        assert_eq!(
            (&*seen.host, seen.port, seen.verdict, seen.connections),
            ("127.0.0.1", server.port(), Verdict::Allowed, 2)
        );
    }
}

#[tokio::test]
async fn everything_else_is_out_of_reach() {
    let (listed, other) = (server(), server());
    let (listed_port, other_port) = (listed.port(), other.port());
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp_port = udp.local_addr().unwrap().port();
    let name = format!("interlock-test-{}", std::process::id());
    let outside = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&outside).unwrap();
    let program = format!(
        "{TRIED}
I, S, D, R = socket.AF_INET, socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
tried('loopback', lambda: connected(I, S, ('127.0.0.1', {other_port})))
tried('public', lambda: connected(I, S, ('1.1.1.1', 443)))
tried('v6', lambda: connected(socket.AF_INET6, S, ('2606:4700::1111', 443)))
tried('v6 loopback', lambda: connected(socket.AF_INET6, S, ('::1', {other_port})))
tried('udp', lambda: connected(I, D, ('1.1.1.1', 53)).send(b'x'))
tried('raw', lambda: socket.socket(I, R, socket.IPPROTO_ICMP))
tried('packet', lambda: socket.socket(socket.AF_PACKET, R, 0))
tried('unix', lambda: connected(socket.AF_UNIX, S, '\\0{name}'))
tried('vsock', lambda: socket.socket(socket.AF_VSOCK, S))
s = socket.socket(I, D); s.sendto(b'leaked', ('127.0.0.1', {udp_port}))
def asked(line):
    s = connected(I, S, ('127.0.0.1', int(os.environ['HTTP_PROXY'].rsplit(':', 1)[1])))
    s.sendall((line + ' HTTP/1.1\\r\\nHost: 127.0.0.1:{listed_port}\\r\\n\\r\\n').encode())
    return s.makefile().readline().split()[1]
tried('address', lambda: asked('CONNECT 1.1.1.1:443'))
tried('port', lambda: asked('CONNECT 127.0.0.1:{other_port}'))
tried('name', lambda: asked('CONNECT evil.example.org:443'))
tried('plain', lambda: asked('GET http://evil.example.org/'))
tried('plain address', lambda: asked('GET http://127.0.0.1:{other_port}/'))
tried('short address', lambda: asked('CONNECT 127.1:{listed_port}'))
for name in list(os.environ): os.environ.pop(name)
tried('unset', lambda: urllib.request.urlopen('http://127.0.0.1:{other_port}/').read())
tried('resolved', lambda: urllib.request.urlopen('http://example.org/').read() and None)"
    );
    let trial = python(&[listed.to_string()], &program);
    let (out, seen) = output(&trial).await;
    let resolved = out.lines().last().unwrap().to_owned();
    assert!(resolved.starts_with("resolved") && !resolved.contains("None"), "{out}");
    let out: Vec<&str> = out.lines().take_while(|line| !line.starts_with("resolved")).collect();
    let expected = [
        "loopback ECONNREFUSED",
        "public ENETUNREACH",
        "v6 ENETUNREACH",
        "v6 loopback ECONNREFUSED",
        "udp ENETUNREACH",
        "raw EPERM",
        "packet EPERM",
        "unix EPERM",
        "vsock EPERM",
        "address 403",
        "port 403",
        "name 403",
        "plain 403",
        "plain address 403",
        "short address 400",
        "unset ECONNREFUSED",
    ];
    assert_eq!(out, expected);
    udp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0; 16]).is_err(), "no datagram has left the private network");
    let other = |port| (format!("127.0.0.1:{port}"), Verdict::NotListed);
    let expected = [
        (":0".to_owned(), Verdict::Invalid),
        ("1.1.1.1:443".to_owned(), Verdict::NotListed),
        other(other_port),
        ("evil.example.org:80".to_owned(), Verdict::NotListed),
        ("evil.example.org:443".to_owned(), Verdict::NotListed),
    ];
    assert_eq!(verdicts(&seen), expected);
}

#[tokio::test]
async fn no_process_inside_holds_the_way_out() {
    let server = server();
    let program = "
import glob, os
mine = {os.readlink(link) for link in glob.glob('/proc/self/fd/*') if os.path.lexists(link) and os.path.exists(link)}
print(sorted(os.path.basename(p) for p in glob.glob('/proc/[0-9]*') if os.path.basename(p) != str(os.getpid())), [m for m in mine if m.startswith('socket')])";
    let (out, _) = output(&python(&[server.to_string()], program)).await;
    assert_eq!(out, "['1'] []", "only the first process of the namespaces is beside it");
}

#[tokio::test]
async fn the_destinations_are_evidence() {
    let server = server();
    let program = format!("{TRIED}\ntried('direct', lambda: urllib.request.urlopen('http://{server}/?secret').read())");
    let trial = python(&[server.to_string()], &program);
    let ended = ended(&trial).await;
    let confined = ended.confined.enforced.clone().unwrap();
    assert_eq!((confined.network, confined.hosts), (Network::Only, vec![server.to_string()]));
    assert_eq!(confined.network_by, ["namespace", "seccomp"]);
    let evidence = keep(&trial.attempt, vec![], ended.confined).await.unwrap();
    let found = evidence.iter().find(|one| one.name == "network").unwrap();
    let evidence = String::from_utf8(trial.attempt.evidence.get(&found.hash).unwrap()).unwrap();
    assert!(evidence.contains("\"verdict\": \"allowed\"") && !evidence.contains("secret"), "{evidence}");
}

#[tokio::test]
async fn a_conversation_has_the_same_way_out() {
    let server = server();
    let program =
        format!("{TRIED}\ninput()\ntried('direct', lambda: urllib.request.urlopen('http://{server}/').read())");
    let trial = python(&[server.to_string()], &program);
    let mut talk = trial.open().await;
    talk.send(b"go\n").await.unwrap();
    assert_eq!(talk.line().await.unwrap().unwrap(), b"direct b'hello'");
    let ended = talk.close(GRACE).await.unwrap();
    assert_eq!(verdicts(&ended.confined.destinations), [(server.to_string(), Verdict::Allowed)]);
}

#[tokio::test]
async fn connections_do_not_keep_a_cancelled_program() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    let program =
        format!("import socket; s = socket.create_connection(('127.0.0.1', {})); print(s.recv(1))", at.port());
    let trial = python(&[at.to_string()], &program);
    let talk = trial.open().await;
    let accepted = tokio::task::spawn_blocking(move || silent.accept());
    let (mut client, _) = accepted.await.unwrap().unwrap();
    let begun = Instant::now();
    trial.canceller.cancel();
    talk.close(GRACE).await.unwrap();
    assert_eq!(client.read(&mut [0; 1]).unwrap_or(0), 0);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn without_a_sandbox_the_program_does_not_start() {
    let mut trial = python(&["example.org:443".to_owned()], "print('ran')");
    trial.plan.rules.sandbox = Kind::None;
    let outcome: Outcome = run(&trial.attempt, &trial.plan).await.unwrap_err();
    assert!(format!("{outcome:?}").contains("SANDBOX"), "{outcome:?}");
}

#[tokio::test]
async fn a_list_that_cannot_be_read_starts_nothing() {
    let trial = python(&["example.org".to_owned()], "print('ran')");
    let outcome = run(&trial.attempt, &trial.plan).await.unwrap_err();
    assert!(format!("{outcome:?}").contains("is not a host with a port"), "{outcome:?}");
}
