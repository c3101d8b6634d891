//! Tokens that are known by their form alone.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::value;

/// A form.
pub(crate) struct Shape {
    /// What the mark says.
    pub(crate) kind: &'static str,
    /// What every one of them begins with, or contains where `before` is set.
    pub(crate) hint: &'static str,
    /// The whole of it, from the hint on.
    form: Option<Regex>,
    /// How many bytes before the hint belong to it.
    before: usize,
    /// Whether a word of ordinary letters could have the same form.
    needs_chance: bool,
}

/// kind, hint, form from the hint on, bytes before the hint, whether ordinary words could look the same.
type Row = (&'static str, &'static str, &'static str, usize, bool);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("github token", "ghp_", r"ghp_[A-Za-z0-9]{30,255}", 0, false),
    ("github token", "gho_", r"gho_[A-Za-z0-9]{30,255}", 0, false),
    ("github token", "ghu_", r"ghu_[A-Za-z0-9]{30,255}", 0, false),
    ("github token", "ghs_", r"ghs_[A-Za-z0-9]{30,255}", 0, false),
    ("github token", "ghr_", r"ghr_[A-Za-z0-9]{30,255}", 0, false),
    ("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}", 0, false),
    ("gitlab token", "glpat-", r"glpat-[A-Za-z0-9_.-]{20,}", 0, false),
    ("gitlab token", "glptt-", r"glptt-[a-f0-9]{40}", 0, false),
    ("gitlab token", "gldt-", r"gldt-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "glrt-", r"glrt-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "glcbt-", r"glcbt-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "GR1348941", r"GR1348941[A-Za-z0-9_-]{20,}", 0, false),
    ("aws key", "AKIA", r"AKIA[A-Z0-9]{16}", 0, false),
    ("aws key", "ASIA", r"ASIA[A-Z0-9]{16}", 0, true),
    ("aws key", "ABIA", r"ABIA[A-Z0-9]{16}", 0, true),
    ("aws key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}=*", 0, false),
    ("google key", "AIza", r"AIza[A-Za-z0-9_-]{35}", 0, false),
    ("google token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}", 0, false),
    ("google secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}", 0, false),
    ("azure secret", "8Q~", r"8Q~[A-Za-z0-9_~.-]{31,34}", 3, false),
    ("slack token", "xoxb-", r"xoxb-[A-Za-z0-9-]{10,}", 0, false),
    ("slack token", "xoxp-", r"xoxp-[A-Za-z0-9-]{10,}", 0, false),
    ("slack token", "xoxa-", r"xoxa-[A-Za-z0-9-]{10,}", 0, false),
    ("slack token", "xoxr-", r"xoxr-[A-Za-z0-9-]{10,}", 0, false),
    ("slack token", "xoxs-", r"xoxs-[A-Za-z0-9-]{10,}", 0, false),
    ("slack token", "xoxe", r"xoxe[.-][A-Za-z0-9.-]{10,}", 0, false),
    ("slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}", 0, false),
    ("slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}", 0, false),
    ("discord webhook", "discord.com/api/webhooks/", r"discord\.com/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{40,}", 0, false),
    ("stripe key", "sk_live_", r"sk_live_[A-Za-z0-9]{10,}", 0, false),
    ("stripe key", "sk_test_", r"sk_test_[A-Za-z0-9]{10,}", 0, true),
    ("stripe key", "rk_live_", r"rk_live_[A-Za-z0-9]{10,}", 0, false),
    ("stripe key", "rk_test_", r"rk_test_[A-Za-z0-9]{10,}", 0, true),
    ("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", 0, false),
    ("anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}", 0, false),
    ("openai key", "sk-proj-", r"sk-proj-[A-Za-z0-9_-]{20,}", 0, true),
    ("openai key", "sk-svcacct-", r"sk-svcacct-[A-Za-z0-9_-]{20,}", 0, true),
    ("openrouter key", "sk-or-v1-", r"sk-or-v1-[a-f0-9]{40,}", 0, false),
    ("openai key", "sk-", r"sk-[A-Za-z0-9]{32,}", 0, true),
    ("groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}", 0, false),
    ("xai key", "xai-", r"xai-[A-Za-z0-9]{60,}", 0, false),
    ("hugging face token", "hf_", r"hf_[A-Za-z0-9]{30,}", 0, true),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}", 0, true),
    ("pypi token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}", 0, false),
    ("rubygems key", "rubygems_", r"rubygems_[a-f0-9]{48}", 0, false),
    ("docker token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}", 0, false),
    ("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,}", 0, false),
    ("vault token", "hvs.", r"hvs\.[A-Za-z0-9_-]{24,}", 0, false),
    ("vault token", "hvb.", r"hvb\.[A-Za-z0-9_-]{24,}", 0, false),
    ("terraform token", ".atlasv1.", r"\.atlasv1\.[A-Za-z0-9_-]{60,}", 14, false),
    ("sendgrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", 0, false),
    ("mailgun key", "key-", r"key-[a-f0-9]{32}", 0, false),
    ("telegram token", ":AA", r":AA[A-Za-z0-9_-]{33}", 10, false),
    ("databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?", 0, false),
    ("digitalocean token", "dop_v1_", r"dop_v1_[a-f0-9]{64}", 0, false),
    ("digitalocean token", "doo_v1_", r"doo_v1_[a-f0-9]{64}", 0, false),
    ("shopify token", "shpat_", r"shpat_[a-fA-F0-9]{32}", 0, false),
    ("shopify token", "shpss_", r"shpss_[a-fA-F0-9]{32}", 0, false),
    ("linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}", 0, false),
    ("notion token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", 0, true),
    ("atlassian token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{30,}", 0, false),
    ("figma token", "figd_", r"figd_[A-Za-z0-9_-]{30,}", 0, false),
    ("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", 0, false),
    ("new relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}", 0, false),
    ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", 0, false),
    ("password hash", "$2a$", r"\$2a\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$2b$", r"\$2b\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$2y$", r"\$2y\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$argon2", r"\$argon2(?:id|i|d)\$v=[0-9]+\$[A-Za-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}", 0, false),
    ("password hash", "$6$", r"\$6\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}", 0, false),
];

/// All forms.
pub(crate) fn all() -> &'static [Shape] {
    static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| ROWS.iter().map(Shape::new).collect());
    &SHAPES
}

impl Shape {
    fn new(&(kind, hint, form, before, needs_chance): &Row) -> Self {
        Shape { kind, hint, form: Regex::new(&format!("^(?-u:{form})")).ok(), before, needs_chance }
    }

    /// Where a token of this form that has its hint at `at` begins and ends.
    pub(crate) fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let found = self.form.as_ref()?.find(text.get(at..)?)?;
        let start = at - before(text, at, self.before)?;
        let end = at + found.end();
        // Within a longer word it is something else.
        let is_apart = start.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !is_word(*byte));
        let is_random = !self.needs_chance || value::is_random(&text[at + self.hint.len().min(found.end())..end]);
        (is_apart && is_random && text.get(end).is_none_or(|byte| !is_word(*byte))).then_some((start, end))
    }
}

/// How many bytes before the hint belong to the token: all of the word, at least half of what is wanted.
fn before(text: &[u8], at: usize, wanted: usize) -> Option<usize> {
    let count = text[..at].iter().rev().take(wanted).take_while(|byte| is_word(**byte) || **byte == b'~').count();
    (count * 2 >= wanted).then_some(count)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The token of one of the forms that a value begins with: how long it is, and its kind.
pub(crate) fn at_start(value: &[u8]) -> Option<(usize, &'static str)> {
    let may_be = |shape: &&Shape| value.starts_with(shape.hint.as_bytes());
    all().iter().filter(may_be).find_map(|shape| shape.find(value, 0).map(|(_, end)| (end, shape.kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_a_regular_expression() {
        for shape in all() {
            assert!(shape.form.is_some(), "{} {}", shape.kind, shape.hint);
        }
    }
}
