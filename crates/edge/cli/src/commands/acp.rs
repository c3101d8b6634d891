//! `interlock acp`: serves the coding agent to an editor.

use super::Outcome;
use crate::{coder::acp, drive::block_on, output::Output};

/// Serves until the editor closes the connection.
pub(crate) fn run(_: &Output) -> Outcome {
    block_on(acp::serve())
}
