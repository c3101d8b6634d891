//! The rules of a policy file: for paths, commands and hosts, and the rules of the default that a project loosens.

use super::{Fields, FileParser, globs, level, nearest};
use crate::{
    Permission, Policy,
    decide::begins_with,
    glob::Globs,
    policy::{CommandRule, HostPattern, HostRule, Rule},
};

pub(super) fn read<'t>(
    reading: &mut FileParser<'t>,
    fields: &mut Fields<'_, 't>,
    policy: &mut Policy,
    is_default: bool,
) {
    let before = policy.path_texts.len();
    for table in fields.tables("path", reading) {
        path(reading, table, policy, is_default);
    }
    for table in fields.tables("command", reading) {
        command(reading, table, policy, is_default);
    }
    for table in fields.tables("host", reading) {
        host(reading, table, policy, is_default);
    }
    // Building the glob set takes longer than all other steps, so it is done only if paths were added.
    if policy.path_texts.len() > before {
        let texts = policy.path_texts.iter().map(|(rule, text)| (*rule, text.as_str()));
        policy.path_globs = Globs::new(texts).unwrap_or_default();
    }
    if !is_default && let Some(table) = fields.table("loosen", reading) {
        loosen(reading, table, policy);
    }
}

/// Reads the common part of every rule.
fn rule<'t>(
    reading: &mut FileParser<'t>,
    fields: &mut Fields<'_, 't>,
    policy: &Policy,
    permissions: &[Permission],
    is_default: bool,
) -> Option<Rule> {
    let at = fields.at;
    let name = fields.need("name", reading);
    let decision = fields.need("decision", reading).and_then(|word| level(reading, word, at));
    let reason = fields.need("reason", reading);
    let loosen_to = match is_default {
        true => fields.text("loosen_to", reading).and_then(|word| level(reading, word, at)),
        false => None,
    };
    let (name, decision, reason) = (name?, decision?, reason?);
    if names(policy).any(|known| known == name) {
        reading.wrong(at, format!("there are two rules called `{name}`"), None);
        return None;
    }
    Some(Rule {
        name: name.to_owned(),
        permissions: permissions.to_vec(),
        level: decision,
        loosen_to: loosen_to.unwrap_or(decision),
        reason: reason.to_owned(),
        is_projects: !is_default,
    })
}

fn names(policy: &Policy) -> impl Iterator<Item = &str> {
    let paths = policy.paths.iter();
    let others = policy.commands.iter().map(|command| &command.rule).chain(policy.hosts.iter().map(|host| &host.rule));
    paths.chain(others).map(|rule| rule.name.as_str())
}

fn path<'t>(reading: &mut FileParser<'t>, mut fields: Fields<'_, 't>, policy: &mut Policy, is_default: bool) {
    let mut permissions = Vec::new();
    for (word, at) in fields.texts("permissions", reading) {
        match Permission::from_word(word) {
            Some(permission @ (Permission::Read | Permission::Write | Permission::Delete)) => {
                permissions.push(permission)
            }
            _ => reading.wrong(
                at,
                format!("`{word}` is not a permission for paths"),
                nearest(word, &["fs.read", "fs.write", "fs.delete"]),
            ),
        }
    }
    if permissions.is_empty() {
        reading.wrong(
            fields.at,
            "`permissions` is missing or empty",
            Some("for example `permissions = [\"fs.write\"]`".to_owned()),
        );
    }
    if permissions.contains(&Permission::Delete) {
        permissions.push(Permission::Destroy);
    }
    let texts = globs(reading, &mut fields, "globs");
    if texts.is_empty() {
        reading.wrong(fields.at, "`globs` is missing or empty", None);
    }
    if let Some(rule) = rule(reading, &mut fields, policy, &permissions, is_default) {
        let number = policy.paths.len();
        policy.paths.push(rule);
        policy.path_texts.extend(texts.into_iter().map(|text| (number, text)));
    }
    fields.finish(reading);
}

fn command<'t>(reading: &mut FileParser<'t>, mut fields: Fields<'_, 't>, policy: &mut Policy, is_default: bool) {
    let prefixes: Vec<Vec<String>> = fields
        .texts("prefix", reading)
        .into_iter()
        .map(|(text, _)| text.split_whitespace().map(str::to_owned).collect())
        .collect();
    if prefixes.is_empty() || prefixes.iter().any(Vec::is_empty) {
        reading.wrong(
            fields.at,
            "`prefix` is missing or empty",
            Some("for example `prefix = [\"npm publish\"]`".to_owned()),
        );
    }
    let permission = match fields.text("permission", reading) {
        None => Permission::Exec,
        Some(word) => Permission::from_word(word).unwrap_or_else(|| {
            let known = Permission::ALL.map(Permission::word);
            reading.wrong(fields.at, format!("`{word}` is not a permission"), nearest(word, &known));
            Permission::Exec
        }),
    };
    let (matching, others) = (fields.texts("match", reading), fields.texts("not_match", reading));
    if matching.is_empty() {
        let hint = "give a command that it matches: `match = [\"npm publish --tag next\"]`";
        reading.wrong(fields.at, "`match` is missing or empty", Some(hint.to_owned()));
    }
    for (examples, expected) in [(matching, true), (others, false)] {
        for (example, at) in examples {
            if begins_with(example, &prefixes) != expected {
                let not = if expected { "does not match" } else { "matches, and should not" };
                let words: Vec<_> = prefixes.iter().map(|prefix| prefix.join(" ")).collect();
                reading.wrong(
                    at,
                    format!("the example `{example}` {not}"),
                    Some(format!("the prefixes are: {}", words.join(", "))),
                );
            }
        }
    }
    if let Some(rule) = rule(reading, &mut fields, policy, &[permission], is_default) {
        policy.commands.push(CommandRule { rule, prefixes });
    }
    fields.finish(reading);
}

fn host<'t>(reading: &mut FileParser<'t>, mut fields: Fields<'_, 't>, policy: &mut Policy, is_default: bool) {
    let mut hosts = Vec::new();
    for (text, at) in fields.texts("hosts", reading) {
        match text.contains(['/', ' ', '@']) || text.is_empty() {
            true => reading.wrong(
                at,
                format!("`{text}` is not a host"),
                Some("write a name or an address, with or without a port: `example.com:443`".to_owned()),
            ),
            false => hosts.push(HostPattern::parse(text)),
        }
    }
    if hosts.is_empty() {
        reading.wrong(fields.at, "`hosts` is missing or empty", None);
    }
    if let Some(rule) = rule(reading, &mut fields, policy, &[Permission::Connect], is_default) {
        policy.hosts.push(HostRule { rule, hosts });
    }
    fields.finish(reading);
}

/// Reads entries such as `name-of-a-rule = "allow"`.
fn loosen<'t>(reading: &mut FileParser<'t>, table: Fields<'_, 't>, policy: &mut Policy) {
    for (name, node) in table.all() {
        let Some(to) = reading.text_of(node, name).and_then(|word| level(reading, word, node.at)) else { continue };
        let known: Vec<String> = names(policy).map(str::to_owned).collect();
        let paths = policy.paths.iter_mut();
        let others = policy
            .commands
            .iter_mut()
            .map(|command| &mut command.rule)
            .chain(policy.hosts.iter_mut().map(|host| &mut host.rule));
        match paths.chain(others).find(|rule| rule.name == name) {
            None => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                reading.wrong(node.at, format!("there is no rule called `{name}`"), nearest(name, &known));
            }
            Some(rule) if to < rule.loosen_to => {
                let message = format!(
                    "the rule `{name}` cannot be {to}: the least that a project can choose is {}",
                    rule.loosen_to
                );
                reading.wrong(node.at, message, None);
            }
            Some(rule) => rule.level = to,
        }
    }
}
