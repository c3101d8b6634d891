//! `interlock mcp`: the Model Context Protocol on stdin and stdout.

use std::{net::SocketAddr, sync::Arc};

use interlock_server::{Access, Identity, Listen, Role};
use tokio::io::{BufReader, stdin, stdout};

use super::{
    Outcome,
    serve::{folders, server},
};
use crate::{Exit, args::Mcp, drive::block_on, output::Output, store::Store};

/// Answers messages until the client closes the input.
pub(crate) fn run(args: &Mcp, output: &Output) -> Outcome {
    let store = Arc::new(Store::open()?);
    let folders = folders(&args.folder, &store)?;
    // The address is not used: nothing listens.
    let listen = Listen::new(SocketAddr::from(([127, 0, 0, 1], 0)), None, false, None)?;
    let access = Access::of_store(&store.home);
    block_on(async {
        let server = server(&store, access, folders, listen)?;
        let identity = Identity { name: "mcp".to_owned(), role: Role::Agent };
        match server.talk(identity, BufReader::new(stdin()), stdout()).await {
            // A client that goes away is no failure of the command.
            Err(_) if output.is_unread() => Ok(Exit::Unread),
            talked => talked.map(|()| Exit::Good).map_err(Into::into),
        }
    })
}
