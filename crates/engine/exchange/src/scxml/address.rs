//! The address of a `<send>`: the machine itself, or nothing.
//!
//! A machine cannot reach other sessions. An event to another session raises `error.communication`, and an invalid
//! address raises `error.execution`, as in SCXML. If the address is an expression, the machine evaluates it when it
//! executes the `<send>`.

use roxmltree::Node;
use serde_json::Value as Json;

use super::{
    foreach::fails,
    import::{Importer, attribute_span},
};
use interlock_chart::file::{ActionFile, RaiseFile};

/// The names of SCXML's own event processor.
const PROCESSORS: [&str; 3] =
    ["scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor", "http://www.w3.org/TR/scxml#SCXMLEventProcessor"];

/// The destination of an event.
pub(super) enum Address {
    /// The external queue of the machine.
    External,
    /// The internal queue of the machine.
    Internal,
    /// A destination that is computed at run time from expressions for the target and the type of service.
    Asked { target: Option<String>, kind: Option<String> },
}

impl Importer {
    /// Returns the action for a `<send>` to an invalid target: as in SCXML, an error is raised and the event is
    /// dropped. Returns `None` for a target that another processor may know.
    pub(super) fn goes_nowhere(&mut self, node: Node<'_, '_>) -> Option<ActionFile> {
        let target = node.attribute("target").unwrap_or("#_internal");
        let is_uri = |text: &str| text.contains([':', '/']);
        // A word may name a processor of another tool; a number cannot.
        let unknown_type = node.attribute("type").filter(|name| name.starts_with(|first: char| first.is_ascii_digit()));
        let invalid = if target.starts_with('#') || is_uri(target) { unknown_type } else { Some(target) };
        let other_session = target.strip_prefix("#_scxml_");
        let (what, error, action) = match (invalid, other_session) {
            (Some(what), _) => {
                let log = format!("${{int({})}}", Json::String(format!("an event cannot be sent to {what}")));
                (what, "error.execution", ActionFile::Log { log })
            }
            (None, Some(_)) => (target, "error.communication", no_such_session()),
            (None, None) => return None,
        };
        self.problems.warn(format!("an event sent to `{what}` only raises {error}"));
        Some(action)
    }

    /// Returns the destination, or `None` if it is outside the machine.
    pub(super) fn address(&mut self, node: Node<'_, '_>) -> Option<Address> {
        if let Some(other) = node.attribute("type").filter(|name| !PROCESSORS.contains(name)) {
            self.refuse(node, attribute_span(node, "type"), &format!("goes to another kind of service (`{other}`)"));
            return None;
        }
        let mut asked = [None, None];
        for (expression, attribute) in asked.iter_mut().zip(["targetexpr", "typeexpr"]) {
            if node.attribute(attribute).is_some() {
                *expression = Some(self.expression(node, attribute)?);
            }
        }
        match (asked, node.attribute("target")) {
            ([None, None], None) => Some(Address::External),
            ([None, None], Some("#_internal")) => Some(Address::Internal),
            ([target, kind], None) => Some(Address::Asked { target, kind }),
            (_, Some(other)) => {
                self.refuse(node, attribute_span(node, "target"), &format!("goes to another target (`{other}`)"));
                None
            }
        }
    }
}

/// Returns an action that chooses between `send` and `raise` by the expressions of an address. `raise` is `None` if the
/// event cannot go to the internal queue.
pub(super) fn asked(
    target: Option<String>,
    kind: Option<String>,
    send: ActionFile,
    raise: Option<ActionFile>,
) -> ActionFile {
    let nowhere = || fails("there is no such target");
    let sent = match target {
        None => send,
        Some(target) => {
            let abroad = when(format!("dyn({target}).startsWith('#_')"), no_such_session(), nowhere());
            let own = when(format!("dyn({target}) == '#_scxml_' + _sessionid"), send, abroad);
            when(format!("dyn({target}) == '#_internal'"), raise.unwrap_or_else(nowhere), own)
        }
    };
    match kind {
        None => sent,
        Some(kind) => when(format!("dyn({kind}) in {}", Json::from(PROCESSORS.to_vec())), sent, nowhere()),
    }
}

fn when(cond: String, then: ActionFile, otherwise: ActionFile) -> ActionFile {
    ActionFile::If { cond, then: vec![then], otherwise: vec![otherwise] }
}

fn no_such_session() -> ActionFile {
    ActionFile::Raise { raise: RaiseFile::Name("error.communication".to_owned()) }
}
