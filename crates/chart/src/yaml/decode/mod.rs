//! From the tree to a draft: is everything of the right shape? What the names mean comes later.
//!
//! Nothing here stops at a problem: what cannot be read is left out and the rest is read.

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
    /// A duration in milliseconds.
    fn duration(&mut self, node: &Node) -> Option<u64> {
        let text = self.scalar(node, "a duration such as `90s`")?;
        let parsed = duration::parse(&text.text);
        if parsed.is_none() {
            let message = format!("`{}` is not a duration", text.text);
            self.report(Diagnostic::error(code::BAD_DURATION, node.span, message).hint(EXAMPLES));
        }
        parsed
    }

    /// Complains about a name that has characters it cannot have.
    fn name(&mut self, name: &Scalar, what: &str, is_name: fn(&str) -> bool, made_of: &str) -> bool {
        let good = is_name(&name.text);
        if !good {
            let message = format!("`{}` cannot be the name of {what}", name.text);
            self.report(Diagnostic::error(code::BAD_NAME, name.span, message).hint(made_of));
        }
        good
    }

    /// Complains about an event name that is none.
    fn event_name(&mut self, name: &Scalar) -> bool {
        self.name(
            name,
            "an event",
            super::name::is_event,
            "event names are tokens joined by dots, without spaces or `*`",
        )
    }
}
