//! `interlock serve`: keeps runs moving, fires timers, and answers the page and the API.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use interlock_server::{Access, Folders, Identity, Listen, Role, Server, Stop, Tls};
use tokio::signal::unix::{SignalKind, signal};

use super::Outcome;
use crate::{
    Exit,
    args::Serve,
    drive::block_on,
    failure::Failure,
    machine,
    output::Output,
    services::ServerServices,
    store::{Store, registry, user},
};

/// Serves until the process is asked to end.
pub(crate) fn run(args: &Serve, output: &Output) -> Outcome {
    let tls = args.tls_cert.clone().zip(args.tls_key.clone()).map(|(certificate, key)| Tls { certificate, key });
    let listen = Listen::new(args.listen, tls, args.behind_proxy, args.origin.clone())?;
    let store = Arc::new(Store::open()?);
    let folders = folders(&args.folder, &store)?;
    let access = Access::of_store(&store.home);
    let code = access.login_code(Identity { name: user().name, role: Role::Admin })?;
    let origin = listen.origin.clone();
    let ready = |address: SocketAddr| tell(address, origin.as_deref(), &code, &folders, output);
    block_on(async {
        let stop = Stop::default();
        end_on_signals(&stop)?;
        let server = server(&store, access, folders.clone(), listen)?;
        server.run(stop, ready).await?;
        Ok(Exit::Good)
    })
}

/// Composes a server of a store.
pub(super) fn server(store: &Arc<Store>, access: Access, folders: Folders, listen: Listen) -> Result<Server, Failure> {
    Ok(Server {
        runtime: store.runtime()?,
        registry: registry(),
        services: Arc::new(ServerServices(Arc::clone(store))),
        access: Arc::new(access),
        folders,
        listen,
        home: store.home.clone(),
        live_folder: store.live_folder(),
    })
}

/// Returns the directories in which runs may start: the given ones and those of `serve.toml`, or else this one.
pub(super) fn folders(given: &[PathBuf], store: &Store) -> Result<Folders, Failure> {
    let mut folders = Folders::of_store(&store.home)?;
    folders.extend(given.iter().cloned());
    if folders.is_empty() {
        folders.push(machine::here());
    }
    Ok(Folders::new(folders)?)
}

fn tell(address: SocketAddr, origin: Option<&str>, code: &str, folders: &Folders, output: &Output) {
    let own = format!("http://{address}");
    let link = format!("{}/#code={code}", origin.unwrap_or(&own));
    output.talk(&format!("Open {link}\n"));
    output.talk("The link works once, within ten minutes. More browsers: `interlock token add NAME --role operator`\n");
    let names: Vec<String> = folders.list().iter().map(|folder| folder.display().to_string()).collect();
    output.talk(&format!("Runs may start in {}\n", names.join(", ")));
}

/// Ends the server at Ctrl-C and SIGTERM.
fn end_on_signals(stop: &Stop) -> Result<(), Failure> {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals =
            signal(kind).map_err(|error| Failure::failed(format!("cannot listen to signals: {error}")))?;
        let stop = stop.clone();
        tokio::spawn(async move {
            signals.recv().await;
            stop.stop();
        });
    }
    Ok(())
}
