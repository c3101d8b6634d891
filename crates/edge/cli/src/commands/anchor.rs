//! `interlock anchor`: prints the signed end of the store's chain.

use interlock_runtime::{Clock as _, SystemClock};
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    anchor::{Anchor, Key, Settings},
    args,
    output::Output,
    store::Store,
};

/// Prints an anchor as one line of JSON, or the public key that checks anchors.
pub(crate) fn run(args: &args::Anchor, output: &Output) -> Outcome {
    let store = Store::open()?;
    let path = Settings::read(&store.home)?.key_path(args.key.as_deref(), &store.home)?;
    let (key, is_new) = Key::read_or_create(&path, &store.home)?;
    if is_new {
        output.talk(&format!("created the key {}; its public part is {}\n", path.display(), key.public()));
    }
    if args.public_key {
        match output.is_json() {
            true => output.json(&json!({ "key": key.public().to_string() }))?,
            false => output.data(&format!("{}\n", key.public()))?,
        }
        return Ok(Exit::Good);
    }
    let anchor = Anchor::new(&store.journal.store_head()?, &key, SystemClock.now_ms());
    output.data(&format!("{}\n", serde_json::to_string(&anchor).map_err(std::io::Error::from)?))?;
    Ok(Exit::Good)
}
