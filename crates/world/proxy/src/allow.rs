//! The list of allowed hosts: reading it, and deciding about a host and about the addresses of its name.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use crate::address::is_public;

/// The word before a host whose name may lead into a private network.
const PRIVATE: &str = "private:";

/// The longest name of a host.
const NAME_MAX: usize = 253;

/// The hosts that a program may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Names with their ports, and whether they may lead into a private network.
    names: BTreeMap<(String, u16), Reach>,
    addresses: Vec<SocketAddr>,
}

/// The addresses to which a name may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Public,
    Anywhere,
}

/// An entry of the list that is no host with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadHost {
    entry: String,
    why: &'static str,
}

impl fmt::Display for BadHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` {}", self.entry, self.why)
    }
}

impl std::error::Error for BadHost {}

/// A host as a request names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => out.write_str(name),
            Host::Address(address) => write!(out, "{address}"),
        }
    }
}

impl Host {
    /// Reads a name or an address. `localhost` is the loopback address, whatever a resolver says.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(address) = bare {
            return address.parse().ok().map(IpAddr::V6).map(Host::Address);
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Host::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        match name.as_str() {
            "localhost" => Some(Host::Address(Ipv4Addr::LOCALHOST.into())),
            name if is_name(name) => Some(Host::Name(name.to_owned())),
            _ => None,
        }
    }
}

/// Returns true if a text is a name and not an address in one of its old forms, such as `127.1` or `0x7f000001`.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(is_letter);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    name.len() <= NAME_MAX && name.split('.').all(is_label) && !is_number
}

/// Splits `host:port`. The port may be missing if `otherwise` gives one.
pub(crate) fn host_and_port(text: &str, otherwise: Option<u16>) -> Option<(Host, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().ok().filter(|_| port.bytes().all(|byte| byte.is_ascii_digit()))?)
        }
        _ => (text, otherwise?),
    };
    Some((Host::parse(host)?, port)).filter(|_| port != 0)
}

impl Allow {
    /// Reads entries such as `api.example.com:443`, `127.0.0.1:11434`, `[2001:db8::1]:443` and
    /// `private:models.lan:8000`, a name that may lead into a private network.
    pub fn parse(entries: &[impl AsRef<str>]) -> Result<Self, BadHost> {
        let mut allow = Allow::default();
        for entry in entries.iter().map(AsRef::as_ref) {
            let (rest, reach) = match entry.strip_prefix(PRIVATE) {
                Some(rest) => (rest, Reach::Anywhere),
                None => (entry, Reach::Public),
            };
            let bad = |why| BadHost { entry: entry.to_owned(), why };
            match host_and_port(rest, None) {
                Some((Host::Name(name), port)) => {
                    let known = allow.names.entry((name, port)).or_insert(reach);
                    *known = reach.max(*known);
                }
                Some((Host::Address(address), port)) => allow.addresses.push(SocketAddr::new(address, port)),
                None => return Err(bad("is not a host with a port, such as api.example.com:443")),
            }
        }
        Ok(allow)
    }

    /// Returns the listed addresses of this computer's loopback interface.
    pub fn loopback(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses.iter().copied().filter(|address| address.ip().is_loopback())
    }

    /// Returns all listed hosts with their ports.
    pub fn hosts(&self) -> impl Iterator<Item = (String, u16)> + '_ {
        let names = self.names.keys().cloned();
        names.chain(self.addresses.iter().map(|address| (address.ip().to_string(), address.port())))
    }

    /// Returns true if a host and a port are listed.
    pub(crate) fn has(&self, host: &Host, port: u16) -> bool {
        match host {
            Host::Name(name) => self.names.contains_key(&(name.clone(), port)),
            Host::Address(address) => self.addresses.contains(&SocketAddr::new(*address, port)),
        }
    }

    /// Returns the addresses of a listed name that it may lead to.
    pub(crate) fn permitted(&self, name: &str, found: Vec<SocketAddr>) -> Vec<SocketAddr> {
        let permitted = |address: &SocketAddr| {
            let reach = self.names.get(&(name.to_owned(), address.port()));
            let is_open = reach == Some(&Reach::Anywhere) || is_public(address.ip());
            reach.is_some() && (is_open || self.addresses.contains(address))
        };
        found.into_iter().filter(permitted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(entries: &[&str]) -> Allow {
        Allow::parse(entries).unwrap()
    }

    fn is_allowed(allow: &Allow, text: &str) -> bool {
        host_and_port(text, None).is_some_and(|(host, port)| allow.has(&host, port))
    }

    #[test]
    fn only_listed_hosts_and_ports_are_allowed() {
        let allow = allow(&["API.Example.com:443", "127.0.0.1:11434", "[2001:db8::1]:8443"]);
        for good in [
            "api.example.com:443",
            "api.example.com.:443",
            "127.0.0.1:11434",
            "localhost:11434",
            "[2001:db8:0::1]:8443",
        ] {
            assert!(is_allowed(&allow, good), "{good}");
        }
        for bad in [
            "api.example.com:80",
            "example.com:443",
            "x.api.example.com:443",
            "api.example.com.evil.org:443",
            "127.0.0.1:80",
            "127.1:11434",
            "2130706433:11434",
            "0x7f.0.0.1:11434",
            "[::ffff:127.0.0.1]:11434",
            "[::1]:11434",
            "api.example.com:+443",
            "api.example.com:443:443",
            "api.example.com",
            "user@api.example.com:443",
        ] {
            assert!(!is_allowed(&allow, bad), "{bad}");
        }
    }

    #[test]
    fn entries_that_are_no_hosts_are_refused() {
        for bad in
            ["example.com", "*.example.com:443", "https://example.com:443", "example.com:0", ":443", "", "127.1:80"]
        {
            assert_eq!(Allow::parse(&[bad]).unwrap_err().entry, bad);
        }
    }

    #[test]
    fn a_name_leads_into_a_private_network_only_if_the_list_says_so() {
        let found = || ["127.0.0.1:80", "10.0.0.1:80", "93.184.215.14:80"].map(|text| text.parse().unwrap()).to_vec();
        assert_eq!(allow(&["name.org:80"]).permitted("name.org", found()), [found()[2]]);
        assert_eq!(allow(&["private:name.org:80"]).permitted("name.org", found()), found());
        assert_eq!(allow(&["name.org:80", "10.0.0.1:80"]).permitted("name.org", found()), found()[1..]);
        assert_eq!(allow(&["10.0.0.1:80"]).permitted("name.org", found()), []);
    }
}
