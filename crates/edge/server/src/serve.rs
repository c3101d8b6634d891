//! Starts and ends a server.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use interlock_activity::Registry;
use interlock_runtime::{Runtime, Workspace};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    sync::{Semaphore, watch},
};

use crate::{
    Access, Folders, Identity, Listen, Role, Services,
    access::Rate,
    api,
    app::{App, State},
    connections, guard,
    history::Histories,
    hub::Hub,
    mcp,
    notify::Notifier,
    page,
    problem::{Problem, Result},
    spent::AllSpent,
    totals::AllTotals,
};

/// The length of the longest message of a client.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The requests that a sender may make at once, and per second after that.
const REQUESTS: (u32, f64) = (2_000, 1_000.0);

/// The failed logins of a caller at once, and per second after that.
const FAILURES: (u32, f64) = (20, 0.2);

/// The number of reports that are made at the same time.
const REPORTS_MAX: usize = 2;

/// The longest time in which the activities of an ending server stop.
const RELEASE_TIME: Duration = Duration::from_secs(30);

/// The interval at which an ending server looks for runs that it still has.
const RELEASE_LOOK: Duration = Duration::from_millis(20);

/// The parts of a server.
pub struct Server {
    /// The runtime that moves the runs.
    pub runtime: Runtime,
    /// The available activities.
    pub registry: &'static Registry,
    /// Services of the program.
    pub services: Arc<dyn Services>,
    /// Tokens and sessions.
    pub access: Arc<Access>,
    /// The directories in which runs may start.
    pub folders: Folders,
    /// The address.
    pub listen: Listen,
    /// The directory of the store.
    pub home: PathBuf,
    /// The directory with the output of running activities.
    pub live_folder: PathBuf,
}

/// Ends a server: it answers the requests that it has accepted, and accepts no more.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Ends the server.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    async fn wait(&self) {
        let mut stopped = self.0.subscribe();
        // An error means that all senders are gone, which is a reason to end, too.
        let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
    }
}

/// Stops the running activities of a runtime and waits until its runs are released, so that their records are complete.
/// A run that takes longer than the limit is left as by a crash.
async fn release(runtime: &Runtime) {
    runtime.detach();
    runtime.stop_attempts();
    let deadline = Instant::now() + RELEASE_TIME;
    while runtime.live_count() > 0 && Instant::now() < deadline {
        tokio::time::sleep(RELEASE_LOOK).await;
    }
}

impl Server {
    /// Listens and serves until it is stopped. `ready` is called with the address once requests are answered.
    pub async fn run(mut self, stop: Stop, ready: impl FnOnce(SocketAddr)) -> Result<()> {
        let address = self.listen.address;
        let cannot = |error: std::io::Error| {
            Problem::failed(format!("cannot listen on {address}: {error}"))
                .hint("choose another port with --listen 127.0.0.1:PORT, or 127.0.0.1:0 for a free one")
        };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        self.listen.address = listener.local_addr().map_err(cannot)?;
        let bound = self.listen.address;
        let notifier = Notifier::of_store(&self.home)?;
        let app = Arc::new(self.app()?);
        let mut tasks = vec![tokio::spawn(keep(Arc::clone(&app))), tokio::spawn(watch_changes(Arc::clone(&app)))];
        tasks.extend(notifier.map(|notifier| tokio::spawn(notifier.work(Arc::clone(&app)))));
        ready(bound);
        let service = router(Arc::clone(&app));
        let serving = async {
            let tls = app.listen.tls.as_ref().map(crate::tls::Tls::acceptor).transpose()?;
            connections::serve(listener, tls, service).await;
            Ok(())
        };
        let ended = tokio::select! {
            ended = serving => ended,
            // Open streams never end by themselves, so they are not awaited.
            () = stop.wait() => Ok(()),
        };
        // Nothing new is taken up while the runs are released.
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        release(&app.runtime).await;
        ended
    }

    /// Answers the Model Context Protocol, one message per line, until the input ends.
    pub async fn talk(
        self,
        identity: Identity,
        mut input: impl AsyncBufRead + Unpin,
        mut output: impl AsyncWrite + Unpin,
    ) -> Result<()> {
        let app = Arc::new(self.app()?);
        let session = mcp::Session { router: api::router().with_state(Arc::clone(&app)), identity: Arc::new(identity) };
        let runtime = app.runtime.clone();
        let listener = tokio::spawn(async move { app.runtime.keep(false).await });
        let ended = |error: std::io::Error| Problem::failed(format!("the client has gone: {error}"));
        let mut line = String::new();
        loop {
            line.clear();
            let read = (&mut input).take(LINE_BYTES_MAX).read_line(&mut line).await.map_err(ended)?;
            if read == 0 {
                break;
            }
            if let Some(answer) = session.answer(&line).await {
                output.write_all(format!("{answer}\n").as_bytes()).await.map_err(ended)?;
                output.flush().await.map_err(ended)?;
            }
        }
        listener.abort();
        release(&runtime).await;
        Ok(())
    }

    fn app(self) -> Result<App> {
        let hub = Hub::new(Arc::clone(self.runtime.engine()), self.registry)?;
        Ok(App {
            runtime: self.runtime,
            registry: self.registry,
            services: self.services,
            access: self.access,
            folders: self.folders,
            listen: self.listen,
            live_folder: self.live_folder,
            hub,
            histories: Histories::default(),
            totals: AllTotals::default(),
            spent: AllSpent::default(),
            reports: Semaphore::new(REPORTS_MAX),
            workspace: Workspace::new(self.home),
            requests: Rate::new(REQUESTS.0, REQUESTS.1),
            failures: Rate::new(FAILURES.0, FAILURES.1),
            bodies: Arc::new(Semaphore::new(guard::ALL_BODY_BYTES_MAX)),
        })
    }
}

/// Moves the runs of the store: fires due timers, and takes up runs that no process owns.
async fn keep(app: State) {
    app.runtime.keep(true).await;
}

async fn watch_changes(app: State) {
    app.hub.work(&app.runtime).await;
}

fn router(app: State) -> Router {
    let pages = ["/", "/inbox", "/board", "/machines", "/machines/{machine}", "/runs/{run}", "/start/{machine}"];
    let router = pages.iter().fold(api::router(), |router, path| router.route(path, get(page::index)));
    router
        .route("/mcp", post(mcp::over_http).layer(from_fn(|request, next| guard::require(Role::Viewer, request, next))))
        .route("/page/picture.css", get(page::picture_style))
        .route("/page/{*path}", get(page::file))
        .fallback(async || Problem::not_found("there is nothing at this address"))
        .layer(from_fn_with_state(Arc::clone(&app), guard::guard))
        .with_state(app)
}
