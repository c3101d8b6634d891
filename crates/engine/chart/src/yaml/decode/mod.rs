//! Decodes the tree to a draft and checks the shape of every part. Names are resolved later.
//!
//! Decoding does not stop at a problem: an unreadable part is omitted and the rest is decoded.

mod action;
mod machine;
mod property;
mod state;
mod transition;

use super::{
    code,
    duration::{self, EXAMPLES},
    fields::Decoder,
    node::{Node, Scalar},
};
use crate::Diagnostic;

pub(crate) use machine::machine;

impl Decoder<'_> {
    /// Decodes a duration to milliseconds.
    fn duration(&mut self, node: &Node) -> Option<u64> {
        let text = self.scalar(node, "a duration such as `90s`")?;
        let parsed = duration::parse(&text.text);
        if parsed.is_none() {
            let message = format!("`{}` is not a duration", text.text);
            self.report(Diagnostic::error(code::BAD_DURATION, node.span, message).hint(EXAMPLES));
        }
        parsed
    }

    /// Reports a name that contains illegal characters.
    fn name(&mut self, name: &Scalar, what: &str, is_name: fn(&str) -> bool, made_of: &str) -> bool {
        let good = is_name(&name.text);
        if !good {
            let message = format!("`{}` is not a valid name for {what}", name.text);
            self.report(Diagnostic::error(code::BAD_NAME, name.span, message).hint(made_of));
        }
        good
    }

    /// Reports an illegal event name.
    fn event_name(&mut self, name: &Scalar) -> bool {
        self.name(
            name,
            "an event",
            super::name::is_event,
            "event names are tokens joined by dots, without spaces or `*`",
        )
    }
}
