//! Connections: normalises the host and applies the rules to it.

use super::{Scene, strictest};
use crate::{Level, Permission, code, policy::DefaultCase};

impl Scene<'_> {
    /// Records a connection to a host.
    pub(crate) fn connect(&mut self, host: &str, port: Option<u16>) {
        let shown = match port {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let Some(real) = real_host(host) else {
            let reason = format!("connect to `{}`: it is not a valid host name", shown.escape_debug());
            return self.find(Permission::Connect, &shown, Level::Deny, code::HOST_RULE, reason);
        };
        let last = self.policy.last_word(DefaultCase::Connect);
        let rules =
            self.policy.hosts.iter().filter(|rule| rule.hosts.iter().any(|pattern| pattern.is_for(&real, port)));
        let (level, reason, rule) = strictest(rules.map(|host| &host.rule), last);
        let rule = rule.map(|rule| format!(" (rule {rule})")).unwrap_or_default();
        let reason = format!("connect to `{shown}`: {reason}{rule}");
        self.find(Permission::Connect, &real, level, code::HOST_RULE, reason);
    }
}

/// Normalises a host: addresses in all forms that systems accept are converted to the usual one.
fn real_host(host: &str) -> Option<String> {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.:%".contains(letter);
    if host.is_empty() || host.len() > 255 || !host.chars().all(is_letter) {
        return None;
    }
    let version_six = host.parse::<std::net::Ipv6Addr>().ok();
    let version_four = match version_six {
        Some(address) => address
            .to_ipv4_mapped()
            .or_else(|| address.to_ipv4().filter(|_| !address.is_loopback() && !address.is_unspecified())),
        None => old_address(&host),
    };
    Some(match (version_four, version_six) {
        (Some(address), _) if address.is_loopback() || address.is_unspecified() => "127.0.0.1".to_owned(),
        (Some(address), _) => address.to_string(),
        (None, Some(address)) if address.is_loopback() || address.is_unspecified() => "::1".to_owned(),
        (None, Some(address)) => address.to_string(),
        (None, None) => host,
    })
}

/// Parses `127.0.0.1`, but also `127.1`, `0x7f.1`, `017700000001` and `2130706433`.
fn old_address(host: &str) -> Option<std::net::Ipv4Addr> {
    let parts: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if parts.len() > 4 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 8 * (4 - first.len() as u32);
    if *last >= 1u64 << room {
        return None;
    }
    let high = first.iter().enumerate().map(|(at, part)| part << (24 - 8 * at)).sum::<u64>();
    u32::try_from(high + last).ok().map(std::net::Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognised_in_every_form() {
        let cases = [
            ("Example.COM.", Some("example.com")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("127.1", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("0x7f.0.0.1", Some("127.0.0.1")),
            ("0", Some("127.0.0.1")),
            ("[::1]", Some("::1")),
            ("::ffff:169.254.169.254", Some("169.254.169.254")),
            ("2852039166", Some("169.254.169.254")),
            ("0251.0376.0251.0376", Some("169.254.169.254")),
            ("1.2.3.4.5", Some("1.2.3.4.5")),
            ("ex\u{430}mple.com", None),
            ("", None),
            ("a b", None),
        ];
        for (host, expected) in cases {
            assert_eq!(real_host(host).as_deref(), expected, "{host}");
        }
    }
}
