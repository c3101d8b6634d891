//! The network that a command reaches, as requests: the listed hosts, or any host if none are listed.

use interlock_activity::{Outcome, code};
use interlock_policy::{Command, Freedom, Request, Weighed};
use interlock_process::Allow;

use super::asked::uses_network;

/// Weighs requests. A command that uses the network is also weighed for every host that it will be able to reach.
pub(super) fn weighed(
    requests: &[Request],
    hosts: &[String],
    weigh: impl Fn(&Request) -> Weighed,
) -> Result<Vec<Weighed>, Outcome> {
    let listed = listed(hosts)?;
    let mut all = Vec::new();
    for request in requests {
        match request {
            Request::Unconfined { freedom: Freedom::AnyHost, command } => {
                all.extend(reached(command, &listed).iter().map(&weigh));
            }
            Request::Command(Command::Shell(text)) => {
                let found = weigh(request);
                let is_online = uses_network(std::slice::from_ref(&found));
                all.push(found);
                if is_online {
                    all.extend(reached(text, &listed).iter().map(&weigh));
                }
            }
            other => all.push(weigh(other)),
        }
    }
    Ok(all)
}

fn reached(command: &str, listed: &[(String, u16)]) -> Vec<Request> {
    if listed.is_empty() {
        return vec![Request::Unconfined { freedom: Freedom::AnyHost, command: command.to_owned() }];
    }
    listed.iter().map(|(host, port)| Request::Connect { host: host.clone(), port: Some(*port) }).collect()
}

fn listed(hosts: &[String]) -> Result<Vec<(String, u16)>, Outcome> {
    let allow = Allow::parse(hosts);
    let allow = allow.map_err(|error| Outcome::error(code::BAD_INPUT, format!("`with.hosts` {error}")))?;
    Ok(allow.hosts().collect())
}
