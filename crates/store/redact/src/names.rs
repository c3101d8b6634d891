//! Values beside the name of a secret: `API_KEY=…`, `"password": "…"`, `--token …`, `<secret>…</secret>`, headers,
//! URLs.

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::{
    multiline, shapes,
    value::{self, Style},
    words::{self, Class, NAME_BYTES_MAX},
};

/// The maximum distance between a name and the end of its value.
pub(crate) const VALUE_BYTES_MAX: usize = 4_096;

/// A secret: its start, its end and its kind.
pub(crate) type Secret = (usize, usize, &'static str);

/// A value with its position and its style in a text.
struct Stands {
    start: usize,
    end: usize,
    style: Style,
}

/// Returns the secret whose name has a hint at `at`.
pub(crate) fn find(text: &[u8], at: usize) -> Option<Secret> {
    let start = at - text[..at].iter().rev().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
    let end = at + text[at..].iter().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
    // In `&sig=`, the hint begins before the name.
    let (start, end) = if end == at { (at + 1, name_end(text, at + 1)) } else { (start, end) };
    let dashes = text[start..end].iter().take_while(|byte| **byte == b'-').count();
    let name = text[start + dashes..end].trim_ascii_end();
    let stands = value_after(text, start, end, dashes > 0)?;
    let (class, kind) = words::classify(strip_dots(name))?;
    if is_directory(name, &text[stands.start..stands.end]) {
        return None;
    }
    if kind == "signature" && !matches!(start.checked_sub(1).map(|at| text[at]), Some(b'?' | b'&')) {
        return None;
    }
    of_class(text, class, kind, &stands)
}

/// Returns the password whose name in another language is at `start..end`.
pub(crate) fn foreign(text: &[u8], start: usize, end: usize) -> Option<Secret> {
    let stands = value_after(text, start, end, false)?;
    let is_value = text[stands.start..stands.end].is_ascii();
    is_value.then(|| of_class(text, Class::Password, "password", &stands)).flatten()
}

/// Returns the part of a JSON string that is secret because of the name of its field.
pub(crate) fn named(name: &str, value: &str) -> Option<Secret> {
    let (class, kind) = words::classify(strip_dots(name.as_bytes()))?;
    if is_directory(name.as_bytes(), value.as_bytes()) {
        return None;
    }
    let stands = Stands { start: 0, end: value.len(), style: Style::Quoted };
    of_class(value.as_bytes(), class, kind, &stands)
}

/// The secret in `text[start..end]`, a value whose name is on another line.
pub(crate) fn of_value(
    text: &[u8],
    start: usize,
    end: usize,
    style: Style,
    (class, kind): (Class, &'static str),
) -> Option<Secret> {
    of_class(text, class, kind, &Stands { start, end, style })
}

/// Returns true if a value of this name is a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    words::classify(strip_dots(name.as_bytes())).is_some()
}

/// Reports if the value of a name such as `pwd` or `START_PWD` is a directory and not a password.
fn is_directory(name: &[u8], value: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._- ".contains(byte) || !byte.is_ascii();
    name.to_ascii_lowercase().ends_with(b"pwd") && value.starts_with(b"/") && value.iter().all(is_plain)
}

fn of_class(text: &[u8], class: Class, kind: &'static str, stands: &Stands) -> Option<Secret> {
    let &Stands { start, end, style } = stands;
    let found = &text[start..end];
    match class {
        Class::Authorization => authorization(text, stands),
        Class::Cookie => is_cookies(found).then_some((start, end, kind)),
        Class::Basic => is_user_and_password(found).then_some((start, end, kind)),
        Class::Password | Class::Token => match shapes::at_start(found) {
            Some((length, kind)) => Some((start, start + length, kind)),
            None => is_one(class, found, style).then_some((start, end, kind)),
        },
    }
}

fn is_one(class: Class, found: &[u8], style: Style) -> bool {
    match class {
        Class::Password => value::is_password(found, style),
        _ => value::is_token(found, style),
    }
}

/// Returns the credentials after the scheme, up to the end of the header; the scheme stays.
fn authorization(text: &[u8], stands: &Stands) -> Option<Secret> {
    let line_end = match stands.style {
        Style::Quoted => stands.end,
        _ => {
            stands.start
                + until(&text[stands.start..], |byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'))
        }
    };
    let line = &text[stands.start..line_end];
    let scheme = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let is_scheme = line.get(scheme) == Some(&b' ') && scheme >= 3;
    let start = if is_scheme { stands.start + scheme + 1 } else { stands.start };
    let rest = text[start..line_end].trim_ascii_end();
    let word = rest.iter().position(|byte| b" ,;".contains(byte)).unwrap_or(rest.len());
    let has_parameters = rest.contains(&b'=') && word < rest.len();
    let (end, proof) = if has_parameters { (start + rest.len(), rest) } else { (start + word, &rest[..word]) };
    let is_basic = is_scheme && line[..scheme].eq_ignore_ascii_case(b"basic") && proof.len() >= 8;
    let is_proof =
        !value::is_placeholder(proof) && (is_basic || has_parameters || value::is_token(proof, Style::Given));
    is_proof.then_some((start, end, "authorization"))
}

/// Returns the token after `Bearer `.
pub(crate) fn bearer(text: &[u8], at: usize) -> Option<Secret> {
    let end = at + until(&text[at..], |byte| byte.is_ascii_whitespace() || b"\"'`,;)}]\\".contains(&byte));
    let proof = &text[at..end];
    let kind = shapes::at_start(proof).map_or("authorization", |(_, kind)| kind);
    value::is_token(proof, Style::Given).then_some((at, end, kind))
}

/// Returns the password, or the bare token, of a URL whose `://` ends at `at`.
pub(crate) fn url(text: &[u8], at: usize) -> Option<Secret> {
    let authority = until(&text[at..], |byte| byte.is_ascii_whitespace() || b"/?#\"'`<>".contains(&byte));
    let host = text[at..at + authority].iter().rposition(|byte| *byte == b'@')?;
    let userinfo = &text[at..at + host];
    match userinfo.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let password = &userinfo[colon + 1..];
            let is_one = password.len() >= 3 && !value::is_placeholder(password);
            is_one.then_some((at + colon + 1, at + host, "password"))
        }
        None => (userinfo.len() >= 16 && value::is_token(userinfo, Style::Given)).then_some((at, at + host, "token")),
    }
}

/// Reports if a value is a user and a password in base64, as Docker keeps them.
fn is_user_and_password(found: &[u8]) -> bool {
    let plain = BASE64_STANDARD.decode(found).unwrap_or_default();
    let colon = plain.iter().position(|byte| *byte == b':');
    found.len() >= 8
        && plain.iter().all(|byte| byte.is_ascii_graphic())
        && colon.is_some_and(|colon| colon > 0 && colon + 1 < plain.len())
}

fn is_cookies(found: &[u8]) -> bool {
    let value = found.split(|byte| *byte == b';').filter_map(|pair| {
        let equals = pair.iter().position(|byte| *byte == b'=')?;
        Some(&pair[equals + 1..])
    });
    value.into_iter().any(|value| value.len() >= 12 && value::is_token(value, Style::Quoted))
}

/// Returns the value that belongs to the name at `start..end`.
fn value_after(text: &[u8], start: usize, end: usize, is_flag: bool) -> Option<Stands> {
    let rest = &text[end..text.len().min(end + VALUE_BYTES_MAX)];
    let rest = &rest[..until(rest, |byte| byte == b'\n')];
    if let Some(at) = argument(text, start, rest)
        && let Some((opening, closing)) = quoted(&rest[at..])
    {
        return Some(Stands { start: end + at + opening, end: end + at + closing, style: Style::Bare });
    }
    if let Some(opening) = attribute(text, start, rest) {
        let length = until(&rest[opening..], |byte| byte == b'<');
        return Some(Stands { start: end + opening, end: end + opening + length, style: Style::Bare });
    }
    let (skipped, separator) = separator(rest, is_flag || is_spoken(text, start))?;
    let skipped = skipped + if separator == Separator::Colon { typed(&rest[skipped..]) } else { 0 };
    let at = end + skipped;
    let is_cookie_header = separator == Separator::Colon && rest.first() == Some(&b':');
    let rest = &rest[skipped..];
    if let Some((opening, closing)) = quoted(rest) {
        return Some(Stands { start: at + opening, end: at + closing, style: Style::Quoted });
    }
    let is_line = is_line_start(text, start) && separator == Separator::Tight;
    let length = match separator {
        Separator::Tag => until(rest, |byte| byte == b'<'),
        // Characters that end an argument or a statement are not part of the value.
        _ if is_line => without_end(&rest[..until(rest, |byte| byte.is_ascii_whitespace())]),
        Separator::Colon if is_cookie_header && text[start..end].to_ascii_lowercase().ends_with(b"cookie") => {
            until(rest, |byte| matches!(byte, b'"' | b'\'' | b'\\'))
        }
        _ => until(rest, |byte| byte.is_ascii_whitespace() || b"\"'`,;&<>)}]|\\".contains(&byte)),
    };
    let style = match separator {
        Separator::Tight | Separator::Space | Separator::Tag => Style::Given,
        Separator::Colon | Separator::Wide => Style::Bare,
    };
    Some(Stands { start: at, end: at + length, style })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// `=` without spaces around it.
    Tight,
    /// ` = ` with spaces, or another assignment operator.
    Wide,
    /// `:`, as in JSON, YAML and headers.
    Colon,
    /// A space, after a flag.
    Space,
    /// `>`, the end of an XML tag.
    Tag,
}

/// Returns the length and the kind of the separator between a name and its value.
fn separator(rest: &[u8], may_be_space: bool) -> Option<(usize, Separator)> {
    let quote = rest.iter().take_while(|byte| b"\"'`\\]".contains(byte)).count();
    if quote > 4 {
        return None;
    }
    if let Some(length) = pair(&rest[quote..]) {
        return Some((quote + length, Separator::Wide));
    }
    let spaces = blank(&rest[quote..]);
    let sign = quote + spaces;
    let after = |length: usize| sign + length + blank(&rest[(sign + length).min(rest.len())..]);
    if let Some(length) = declared(&rest[quote..]).filter(|_| quote == 0) {
        return Some((length, Separator::Wide));
    }
    let compound = compound(&rest[sign.min(rest.len())..]);
    match rest[sign.min(rest.len())..] {
        [b'=', b'=', ..] => None,
        [b'=', b'>', ..] | [b':', b'=', ..] => Some((after(2), Separator::Wide)),
        _ if compound > 0 => Some((after(compound), Separator::Wide)),
        [b':', b':', ..] => None,
        [b'=', ..] if spaces == 0 && after(1) == sign + 1 => Some((sign + 1, Separator::Tight)),
        [b'=', ..] => Some((after(1), Separator::Wide)),
        [b':', ..] => Some((after(1), Separator::Colon)),
        [b'>', ..] if spaces == 0 && quote == 0 => Some((sign + 1, Separator::Tag)),
        _ if may_be_space && spaces > 0 && quote == 0 => Some((sign, Separator::Space)),
        _ => None,
    }
}

/// Returns the length of an assignment operator with several characters: `?=`, `+=`, `.=`, `??=`, `||=`, `::=`, `:::=`.
/// Zero for other operators.
fn compound(rest: &[u8]) -> usize {
    const SIGNS: [&[u8]; 8] = [b":::=", b"::=", b"??=", b"||=", b"&&=", b"?=", b"+=", b".="];
    SIGNS.iter().find(|sign| rest.starts_with(sign)).map_or(0, |sign| sign.len())
}

/// Returns the distance to the quoted value of a variable that has its type after its name: `var token string = "…"`.
fn declared(rest: &[u8]) -> Option<usize> {
    let spaces = blank(rest);
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_*.[]".contains(byte);
    let kind = rest[spaces..].iter().take(48).take_while(is_type).count();
    let sign = spaces + kind + blank(&rest[spaces + kind..]);
    let value = sign + 1 + blank(rest.get(sign + 1..)?);
    let is_value =
        spaces > 0 && kind > 0 && rest.get(sign) == Some(&b'=') && matches!(rest.get(value), Some(b'"' | b'`'));
    is_value.then_some(value)
}

/// Returns the start of the value that follows its name in a call: `setProperty("NAME", "…")`.
fn argument(text: &[u8], start: usize, rest: &[u8]) -> Option<usize> {
    let quote = start.checked_sub(1).and_then(|at| text.get(at)).filter(|byte| b"\"'`".contains(byte))?;
    let is_call = start.checked_sub(2).and_then(|at| text.get(at)) == Some(&b'(');
    let after = rest.strip_prefix(&[*quote, b','])?;
    let value = blank(after);
    (is_call && after.get(value) == Some(quote)).then_some(2 + value)
}

/// Where the text of an element begins that has its name in an attribute: `<entry key="NAME">…`. Several words are a label.
fn attribute(text: &[u8], start: usize, rest: &[u8]) -> Option<usize> {
    let before = [&b" key=\""[..], b" name=\"", b" key='", b" name='"];
    let from = text[..start].iter().rev().take(NAME_BYTES_MAX).position(|byte| *byte == b'<')?;
    let is_attribute = before.iter().any(|before| text[..start].ends_with(before))
        && !multiline::is_form_tag(&text[start - from..start]);
    let opening = rest.iter().take(2).position(|byte| *byte == b'>')? + 1;
    let value = &rest[opening..opening + until(&rest[opening..], |byte| byte == b'<')];
    (is_attribute && opening == 2 && !value.is_empty() && !value.contains(&b' ')).then_some(opening)
}

/// How long the type of a constant is, where its value in quotes comes after it: `&str = "…"`.
fn typed(rest: &[u8]) -> usize {
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_<>&' :*[];?|".contains(byte);
    let length = rest.iter().take(48).take_while(is_type).count();
    let after = rest.get(length + 1..).unwrap_or_default();
    let is_value = length > 0 && rest.get(length) == Some(&b'=') && after.trim_ascii_start().starts_with(b"\"");
    if is_value { length + 1 + blank(after) } else { 0 }
}

/// Matches `, "value": ` after a name that is itself a value: `{"name": "DB_PASSWORD", "value": "…"}`.
fn pair(rest: &[u8]) -> Option<usize> {
    let comma = blank(rest);
    let rest_after = rest.get(comma..)?.strip_prefix(b",")?;
    let skipped = rest_after.iter().take_while(|byte| b" \t\"'\\".contains(byte)).count();
    let word = rest_after.get(skipped..skipped + 5)?;
    let tail = &rest_after[skipped + 5..];
    let quote = tail.iter().take_while(|byte| b"\"'\\".contains(byte)).count();
    let colon = quote + blank(&tail[quote..]);
    let is_pair = word.eq_ignore_ascii_case(b"value") && matches!(tail.get(colon), Some(b':' | b'='));
    is_pair.then(|| comma + 1 + skipped + 5 + colon + 1 + blank(&tail[colon + 1..]))
}

/// Returns the start and end of a quoted value; an unclosed one ends with the line.
fn quoted(rest: &[u8]) -> Option<(usize, usize)> {
    // The prefixes of `b"…"`, `r"…"`, `u'…'`, and JSON within a string.
    let prefix = match rest {
        [b'b' | b'r' | b'u' | b'f' | b'L', b'"' | b'\'', ..] => 1,
        _ => 0,
    };
    let escapes = rest[prefix..].iter().take_while(|byte| **byte == b'\\').count();
    let quote = *rest.get(prefix + escapes).filter(|byte| b"\"'`".contains(byte))?;
    let opening = prefix + escapes + 1;
    let mut closing = opening;
    while let Some(byte) = rest.get(closing) {
        let backslashes = rest[opening..closing].iter().rev().take_while(|byte| **byte == b'\\').count();
        if *byte == quote && (escapes > 0 && backslashes >= escapes || escapes == 0 && backslashes % 2 == 0) {
            return Some((opening, closing - backslashes.min(escapes)));
        }
        closing += 1;
    }
    Some((opening, closing))
}

/// Reports if a name is followed by its value without a separator: `ENV NAME value`, `machine … login … password …`.
fn is_spoken(text: &[u8], start: usize) -> bool {
    let from = start - text[..start].iter().rev().take(NAME_BYTES_MAX).take_while(|byte| **byte != b'\n').count();
    let before = text[from..start].trim_ascii_start();
    let is_docker = [&b"ENV "[..], b"setenv ", b"ARG "].contains(&before);
    is_docker || before.windows(6).any(|part| part == b"login ") || before.ends_with(b"IDENTIFIED BY ")
}

fn is_line_start(text: &[u8], start: usize) -> bool {
    let from = start - text[..start].iter().rev().take(32).take_while(|byte| **byte != b'\n').count();
    let before = text[from..start].trim_ascii();
    before.is_empty() || before == b"export" || before == b"-" || before == b"+" || before == b"-e"
}

fn name_end(text: &[u8], from: usize) -> usize {
    from + text[from..].iter().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count()
}

fn strip_dots(name: &[u8]) -> &[u8] {
    let start = name.iter().take_while(|byte| **byte == b'.').count();
    &name[start..]
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Returns the length of a value without the characters that end an argument or a statement.
fn without_end(value: &[u8]) -> usize {
    value.len() - value.iter().rev().take_while(|byte| b",;)".contains(byte)).count()
}

fn blank(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns the distance to the first such byte, or to the end; at most the maximum length of a value.
fn until(text: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    let text = &text[..text.len().min(VALUE_BYTES_MAX)];
    text.iter().position(|byte| is_end(*byte)).unwrap_or(text.len())
}
