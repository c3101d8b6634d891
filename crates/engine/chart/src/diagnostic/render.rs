//! Formats a diagnostic for a terminal: the source line, carets under the span, and the suggested fix.
//!
//! Only the first line of a span is shown, and a long line is shown only around the span. So a report stays short for
//! any file.

use super::{Diagnostic, Severity, Span, floor_boundary, line_col};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// The maximum number of bytes of a span that are underlined.
const CARETS_MAX: usize = 100;

/// The width of a report in columns, independent of the terminal. Longer lines are cut around the span.
const WIDTH: usize = 140;

/// Formats a diagnostic in the style of `rustc`: code, sentence, position, source line, carets and help.
pub fn render(diagnostic: &Diagnostic, file_name: &str, source: &str, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(clean(&diagnostic.message)).id(diagnostic.code));
    if source.is_empty() {
        group = group.element(Origin::path(file_name));
    } else {
        let shown = Excerpt::around(source, diagnostic.span);
        group = group.element(snippet(shown, file_name, AnnotationKind::Primary));
    }
    if let Some((span, text)) = &diagnostic.related {
        let shown = Excerpt::around(source, *span);
        group = group.element(Level::NOTE.message(clean(text)));
        group = group.element(snippet(shown, file_name, AnnotationKind::Context));
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(clean(hint)));
    }
    group = group.element(Level::HELP.message(format!("`interlock explain {}` tells more", diagnostic.code)));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.term_width(WIDTH).render(&[group]);
    text.push('\n');
    text
}

/// The part of the source text that is shown: the first line of a span. The renderer cuts a long line.
struct Excerpt {
    text: String,
    line: usize,
    carets: Range<usize>,
}

impl Excerpt {
    fn around(source: &str, span: Span) -> Self {
        let start = floor_boundary(source, span.start as usize);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        let end = floor_boundary(source, span.end as usize).clamp(start, line_end);
        let end = floor_boundary(source, end.min(start + CARETS_MAX)).max(start);
        Excerpt {
            text: visible(&source[line_start..line_end]),
            line: line_col(source, start).0,
            carets: start - line_start..end - line_start,
        }
    }
}

fn snippet<'a>(
    shown: Excerpt,
    file_name: &'a str,
    kind: AnnotationKind,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let carets = kind.span(shown.carets);
    Snippet::source(shown.text).line_start(shown.line).path(file_name).annotation(carets)
}

/// Replaces control characters, which would move the cursor. Each replacement has the same length in bytes.
fn visible(line: &str) -> String {
    line.chars().map(|c| if c != '\t' && c.is_ascii_control() { ' ' } else { c }).collect()
}

/// Returns the message on one line without control characters.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(source: &str, what: &str, expected: Expect) {
        let start = source.find(what).unwrap();
        let diagnostic = Diagnostic::error("E0201", Span::between(start, start + what.len()), "no state `b`")
            .hint("did you mean `a`?");
        expected.assert_eq(&render(&diagnostic, "m.yaml", source, false));
    }

    #[test]
    fn carets_are_drawn_below_the_span() {
        check(
            "machine: é\ninitial: é b\n",
            "b",
            expect![[r#"
            error[E0201]: no state `b`
             --> m.yaml:2:12
              |
            2 | initial: é b
              |            ^
              |
              = help: did you mean `a`?
              = help: `interlock explain E0201` tells more
        "#]],
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_span() {
        let source = format!("x: {}b{}", "é".repeat(3_000), "y".repeat(3_000));
        check(
            &source,
            "b",
            expect![[r#"
            error[E0201]: no state `b`
             --> m.yaml:1:3004
              |
            1 | ...éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééébyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...
              |                                                                    ^
              |
              = help: did you mean `a`?
              = help: `interlock explain E0201` tells more
        "#]],
        );
    }

    #[test]
    fn a_span_past_the_end_is_shown_at_the_end() {
        let far = Diagnostic::warning("W0209", Span { start: 900, end: 7 }, "odd");
        expect![[r#"
            warning[W0209]: odd
             --> m.yaml:1:5
              |
            1 | a: b
              |     ^
              |
              = help: `interlock explain W0209` tells more
        "#]]
        .assert_eq(&render(&far, "m.yaml", "a: b", false));
    }
}
