//! Tokens that are recognised by their form alone.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::value;

/// The form of a token.
pub(crate) struct Shape {
    /// The kind that the mark names.
    pub(crate) kind: &'static str,
    /// The text that every token begins with, or contains if `before` is set.
    pub(crate) hint: &'static str,
    /// The pattern of the token, from the hint on.
    form: Option<Regex>,
    /// The number of bytes before the hint that belong to the token.
    before: usize,
    /// True if ordinary words could have the same form, so the token must look random.
    needs_chance: bool,
}

/// The kind, the hint, the pattern from the hint on, the bytes before the hint, and if the token must look random.
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
    ("gitlab token", "gloas-", r"gloas-[A-Za-z0-9_-]{40,}", 0, false),
    ("gitlab token", "glft-", r"glft-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "glffct-", r"glffct-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "glimt-", r"glimt-[A-Za-z0-9_-]{20,}", 0, false),
    ("gitlab token", "glagent-", r"glagent-[A-Za-z0-9_-]{40,}", 0, false),
    ("gitlab token", "glsoat-", r"glsoat-[A-Za-z0-9_-]{20,}", 0, false),
    ("bitbucket token", "ATBB", r"ATBB[A-Za-z0-9]{24,}", 0, true),
    ("bitbucket token", "ATCTT3", r"ATCTT3[A-Za-z0-9_=-]{30,}", 0, false),
    ("trello token", "ATTA", r"ATTA[a-f0-9]{64,}", 0, false),
    ("stripe key", "sk_prod_", r"sk_prod_[A-Za-z0-9]{10,}", 0, false),
    ("stripe key", "rk_prod_", r"rk_prod_[A-Za-z0-9]{10,}", 0, false),
    ("shopify token", "shpca_", r"shpca_[a-fA-F0-9]{32}", 0, false),
    ("shopify token", "shppa_", r"shppa_[a-fA-F0-9]{32}", 0, false),
    ("square token", "sq0atp-", r"sq0atp-[A-Za-z0-9_-]{22,}", 0, false),
    ("square token", "sq0csp-", r"sq0csp-[A-Za-z0-9_-]{22,}", 0, false),
    ("alibaba key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}", 0, true),
    ("facebook token", "EAA", r"EAA[A-Za-z0-9]{60,}", 0, true),
    ("dynatrace token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{60,}", 0, false),
    ("airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", 0, false),
    ("teams webhook", "IncomingWebhook/", r"IncomingWebhook/[A-Za-z0-9]{20,}/[A-Za-z0-9-]{20,}(?:/[A-Za-z0-9_-]+)?", 0, false),
    ("postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", 0, false),
    ("pulumi token", "pul-", r"pul-[a-f0-9]{40}", 0, false),
    ("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,}", 0, false),
    ("planetscale token", "pscale_tkn_", r"pscale_tkn_[A-Za-z0-9_=.-]{32,}", 0, false),
    ("planetscale token", "pscale_pw_", r"pscale_pw_[A-Za-z0-9_=.-]{32,}", 0, false),
    ("planetscale token", "pscale_oauth_", r"pscale_oauth_[A-Za-z0-9_=.-]{32,}", 0, false),
    ("digitalocean token", "dor_v1_", r"dor_v1_[a-f0-9]{64}", 0, false),
    ("sentry token", "sntryu_", r"sntryu_[a-f0-9]{64}", 0, false),
    ("sentry token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,}", 0, false),
    ("brevo key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", 0, false),
    ("brevo key", "xsmtpsib-", r"xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}", 0, false),
    ("heroku key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,}", 0, false),
    ("grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,}={0,2}", 0, false),
    ("fly token", "fm2_", r"fm2_[A-Za-z0-9+/=_-]{40,}", 0, false),
    ("fly token", "fm1r_", r"fm1r_[A-Za-z0-9+/=_-]{40,}", 0, false),
    ("fly token", "fm1a_", r"fm1a_[A-Za-z0-9+/=_-]{40,}", 0, false),
    ("fly token", "fo1_", r"fo1_[A-Za-z0-9_-]{40,}", 0, false),
    ("sourcegraph token", "sgp_", r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", 0, false),
    ("easypost key", "EZTK", r"EZTK[A-Za-z0-9]{54}", 0, false),
    ("easypost key", "EZAK", r"EZAK[A-Za-z0-9]{54}", 0, false),
    ("teams webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{36,}/IncomingWebhook/[a-zA-Z0-9]{32}/[A-Za-z0-9-]{36}(?:/[A-Za-z0-9_-]+)?", 0, false),
    ("supabase key", "sbp_", r"sbp_[a-f0-9]{40}", 0, false),
    ("supabase key", "sb_secret_", r"sb_secret_[A-Za-z0-9_-]{20,}", 0, false),
    ("replicate token", "r8_", r"r8_[A-Za-z0-9]{30,}", 0, true),
    ("tailscale key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]{6,}(?:CNTRL)?-[A-Za-z0-9]{16,}", 0, false),
    ("doppler token", "dp.pt.", r"dp\.pt\.[A-Za-z0-9]{40,}", 0, false),
    ("doppler token", "dp.st.", r"dp\.st\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{40,}", 0, false),
    ("contentful token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,}", 0, false),
    ("netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}", 0, false),
    ("buildkite token", "bkua_", r"bkua_[a-f0-9]{40}", 0, false),
    ("circleci token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]+_[a-f0-9]{40}", 0, false),
    ("typeform token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{50,}", 0, false),
    ("sonarqube token", "sqp_", r"sqp_[a-f0-9]{40}", 0, false),
    ("sonarqube token", "squ_", r"squ_[a-f0-9]{40}", 0, false),
    ("nuget key", "oy2", r"oy2[a-z0-9]{43}", 0, true),
    ("1password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_-]{40,}", 0, false),
    ("langsmith key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", 0, false),
    ("langfuse key", "sk-lf-", r"sk-lf-[a-f0-9-]{36}", 0, false),
    ("openai key", "sk-admin-", r"sk-admin-[A-Za-z0-9_-]{20,}", 0, true),
    ("nvidia key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,}", 0, false),
    ("together key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{40,}", 0, false),
    ("mapbox token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", 0, false),
    ("neon key", "napi_", r"napi_[a-z0-9]{40,}", 0, true),
    ("duffel token", "duffel_live_", r"duffel_live_[A-Za-z0-9_=-]{40,}", 0, false),
    ("hubspot token", "pat-na1-", r"pat-na1-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}", 0, false),
    ("twilio key", "SK", r"SK[a-f0-9]{32}", 0, true),
    ("password hash", "$apr1$", r"\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}", 0, false),
    ("password hash", "$1$", r"\$1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}", 0, false),
    ("password hash", "$5$", r"\$5\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}", 0, false),
    ("password hash", "$y$", r"\$y\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}", 0, false),
    ("password hash", "$gy$", r"\$gy\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}", 0, false),
    ("password hash", "$7$", r"\$7\$[./A-Za-z0-9]{11,97}\$[./A-Za-z0-9]{43}", 0, false),
    ("password hash", "$P$", r"\$P\$[./A-Za-z0-9]{31}", 0, false),
    ("password hash", "$H$", r"\$H\$[./A-Za-z0-9]{31}", 0, false),
    ("password hash", "{SSHA", r"\{SSHA[0-9]*\}[A-Za-z0-9+/]{28,}={0,2}", 0, false),
    ("password hash", "pbkdf2_sha", r"pbkdf2_sha(?:1|256|512)\$[0-9]+\$[A-Za-z0-9]+\$[A-Za-z0-9+/]{20,}={0,2}", 0, false),
    ("password hash", "$2a$", r"\$2a\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$2b$", r"\$2b\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$2y$", r"\$2y\$[0-9]{2}\$[./A-Za-z0-9]{53}", 0, false),
    ("password hash", "$argon2", r"\$argon2(?:id|i|d)\$v=[0-9]+\$[A-Za-z0-9=,]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]{20,}", 0, false),
    ("password hash", "$6$", r"\$6\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}", 0, false),
];

/// Returns all forms.
pub(crate) fn all() -> &'static [Shape] {
    static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| ROWS.iter().map(Shape::new).collect());
    &SHAPES
}

impl Shape {
    fn new(&(kind, hint, form, before, needs_chance): &Row) -> Self {
        Shape { kind, hint, form: Regex::new(&format!("^(?-u:{form})")).ok(), before, needs_chance }
    }

    /// Returns the range of a token of this form whose hint is at `at`.
    pub(crate) fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let found = self.form.as_ref()?.find(text.get(at..)?)?;
        let start = at - before(text, at, self.before)?;
        let end = at + found.end();
        // Within a longer word it is not a token.
        let is_apart = start.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !is_word(*byte));
        let is_random = !self.needs_chance || value::is_random(&text[at + self.hint.len().min(found.end())..end]);
        (is_apart && is_random && text.get(end).is_none_or(|byte| !is_word(*byte))).then_some((start, end))
    }
}

/// Returns the number of bytes before the hint that belong to the token; `None` if fewer than half of the wanted ones
/// are word characters.
fn before(text: &[u8], at: usize, wanted: usize) -> Option<usize> {
    let count = text[..at].iter().rev().take(wanted).take_while(|byte| is_word(**byte) || **byte == b'~').count();
    (count * 2 >= wanted).then_some(count)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length and the kind of the token that a value begins with.
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
