//! Starts a kernel: its private directory, its connection file, its place in the sandbox, and the wait until it answers.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    time::Duration,
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_process::{Plan, Sandbox, Tell, find};
use interlock_sandbox::{Network, Rules};
use serde_json::{Value as Json, json};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, timeout},
};

use super::{
    Channel, Heard, Kernel, Kernelspec, Signs, WAITING_KIB_MAX, WAITING_MAX,
    folder::Folder,
    listen,
    message::Session,
    process::Process,
    zmtp::{self, SocketType},
};

/// The time that a kernel has to answer its first request.
const READY_MAX: Duration = Duration::from_secs(120);

/// The time in which a kernel that has closed its connection should end.
const END_MAX: Duration = Duration::from_secs(5);

/// The wait before a question is repeated whose output did not arrive: the subscription was not in effect yet.
const ASK_AGAIN: Duration = Duration::from_millis(300);

/// The pause between two attempts to connect.
const CONNECT_EVERY: Duration = Duration::from_millis(10);

/// The number of bytes of the kernel's own output that are kept to explain a failure.
const OUTPUT_BYTES_MAX: u64 = 1_024 * 1_024;

const SHELL: u8 = 1;
const IOPUB: u8 = 2;
const CONTROL: u8 = 4;

/// Starts a kernel for a run and waits until it answers.
pub(crate) async fn start(
    attempt: &Attempt,
    sandbox: &Sandbox,
    mut rules: Rules,
    spec: Kernelspec,
) -> Result<Kernel, Outcome> {
    let failed = |why: String| Outcome::error(code::FAILED, format!("the kernel `{}` did not start: {why}", spec.name));
    if matches!(rules.network, Network::Loopback | Network::Only) {
        let why = format!("a kernel cannot be reached with `network: {}`; use off, unix or on", rules.network.name());
        return Err(failed(why));
    }
    let failed_to_write = |error: std::io::Error| failed(error.to_string());
    // A store in the workspace is not hidden from programs.
    let store = rules.store.as_deref().filter(|store| !store.starts_with(&rules.workspace));
    let folder = Folder::create(store, &attempt.run).map_err(failed_to_write)?;
    let session = Session::new().map_err(failed)?;
    let content = connection(folder.path(), &spec, &session).to_string();
    folder.write_connection(&content).map_err(failed_to_write)?;
    rules.write.push(folder.path().to_owned());
    // Some kernels talk to an interpreter as if a person typed.
    rules.terminals = true;
    let env = env(&spec, folder.path());
    let words = words(&spec, &folder.connection_file(), attempt, &env).map_err(failed)?;
    // A program may have made a kernelspec of the project.
    if !spec.folder.starts_with(&rules.workspace) {
        rules.show.push(spec.folder.clone());
        words.first().into_iter().for_each(|program| rules.show_program(Path::new(program)));
    }
    let plan = Plan {
        words,
        folder: attempt.folder.clone(),
        env,
        stdin: Vec::new(),
        timeout: None,
        output_bytes_max: OUTPUT_BYTES_MAX,
        tell: [Tell::Nothing, Tell::Nothing],
        rules,
        launcher: sandbox.launcher.clone(),
    };
    let mut process = Process::start(attempt, &plan).await?;
    let name = spec.name.clone();
    let mut cancel = attempt.cancel.clone();
    let kernel = tokio::select! {
        death = process.gone() => Err(death.why),
        () = cancel.cancelled() => return Err(Outcome::cancelled("it was stopped while its kernel started")),
        ready = timeout(READY_MAX, connect(folder, session, spec)) => match ready {
            Ok(Ok(connected)) => Ok(connected),
            // A connection that closes is a kernel that ends; its own reason says more.
            Ok(Err(why)) => Err(timeout(END_MAX, process.gone()).await.map_or(why, |death| death.why)),
            Err(_) => Err(format!("it did not answer within {} seconds", READY_MAX.as_secs())),
        },
    };
    let kernel =
        kernel.map_err(|why| Outcome::error(code::FAILED, format!("the kernel `{name}` did not start: {why}")));
    kernel.map(|connected| connected.with(process))
}

fn socket(folder: &Path, number: u8) -> PathBuf {
    folder.join(format!("s-{number}"))
}

/// Returns the content of the connection file.
fn connection(folder: &Path, spec: &Kernelspec, session: &Session) -> Json {
    json!({
        "transport": "ipc", "ip": folder.join("s"), "shell_port": SHELL, "iopub_port": IOPUB, "stdin_port": 3,
        "control_port": CONTROL, "hb_port": 5, "key": session.secret(), "signature_scheme": "hmac-sha256",
        "kernel_name": spec.name,
    })
}

/// Returns the variables of a kernel. It cannot write to the user's home, so its settings and caches are private.
fn env(spec: &Kernelspec, folder: &Path) -> BTreeMap<String, String> {
    let home = folder.join("home");
    let own = [("IPYTHONDIR", "ipython"), ("MPLCONFIGDIR", "matplotlib"), ("JUPYTER_RUNTIME_DIR", "runtime")];
    let own = own.map(|(name, place)| (name.to_owned(), home.join(place).to_string_lossy().into_owned()));
    BTreeMap::from(own).into_iter().chain(spec.env.clone()).collect()
}

fn words(
    spec: &Kernelspec,
    file: &Path,
    attempt: &Attempt,
    env: &BTreeMap<String, String>,
) -> Result<Vec<OsString>, String> {
    let file = file.to_string_lossy();
    let mut words: Vec<_> = spec.argv.iter().map(|word| word.replace("{connection_file}", &file)).collect();
    if let Some(program) = words.first_mut() {
        *program = find(program, &attempt.folder, env)?.to_string_lossy().into_owned();
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// A kernel that answers, before its process is attached.
struct Connected {
    spec: Kernelspec,
    language_info: Json,
    session: Session,
    shell: zmtp::Sender,
    control: zmtp::Sender,
    heard: mpsc::Receiver<Heard>,
    is_listening: Arc<AtomicBool>,
    readers: Vec<tokio::task::JoinHandle<()>>,
    folder: Folder,
}

impl Connected {
    fn with(self, process: Process) -> Kernel {
        let Connected { spec, language_info, session, shell, control, heard, is_listening, readers, folder } = self;
        is_listening.store(false, Ordering::SeqCst);
        Kernel { spec, language_info, session, shell, control, heard, is_listening, process, readers, _folder: folder }
    }
}

async fn connect(folder: Folder, session: Session, spec: Kernelspec) -> Result<Connected, String> {
    let (to, heard) = mpsc::channel(WAITING_MAX);
    let is_listening = Arc::new(AtomicBool::new(true));
    let room = Arc::new(Semaphore::new(WAITING_KIB_MAX));
    let mut readers = Vec::new();
    let mut senders = Vec::new();
    for (channel, number, kind) in [
        (Channel::Shell, SHELL, SocketType::Dealer),
        (Channel::Control, CONTROL, SocketType::Dealer),
        (Channel::Iopub, IOPUB, SocketType::Sub),
    ] {
        let (sender, receiver) = reach(&socket(folder.path(), number), kind).await?;
        readers.push(listen(channel, receiver, to.clone(), is_listening.clone(), room.clone()));
        senders.push(sender);
    }
    // The publisher sends nothing back to its subscribers' messages, but the connection must stay open.
    let (Some(iopub), Some(control), Some(shell)) = (senders.pop(), senders.pop(), senders.pop()) else {
        return Err("its sockets are missing".to_owned());
    };
    readers.push(tokio::spawn(async move {
        let _iopub = iopub;
        std::future::pending::<()>().await;
    }));
    let language_info = Json::Null;
    let mut connected =
        Connected { spec, language_info, session, shell, control, heard, is_listening, readers, folder };
    connected.language_info = connected.greet().await?;
    connected.folder.forget_connection();
    Ok(connected)
}

/// Connects as soon as the kernel listens. The caller limits the time.
async fn reach(path: &Path, kind: SocketType) -> Result<(zmtp::Sender, zmtp::Receiver), String> {
    loop {
        match zmtp::connect(path, kind).await {
            Ok(connected) => return Ok(connected),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Err(error.to_string()),
            Err(_) => tokio::time::sleep(CONNECT_EVERY).await,
        }
    }
}

impl Connected {
    /// Asks the kernel about itself until both the reply and the status arrive: then no output can be missed.
    async fn greet(&mut self) -> Result<Json, String> {
        loop {
            let (id, frames) = self.session.request("kernel_info_request", &json!({}));
            self.shell.send(&frames).await.map_err(|error| error.to_string())?;
            let mut signs = Signs::default();
            let mut until = None;
            while !(signs.reply.is_some() && signs.is_idle) {
                let wait = async {
                    match until {
                        Some(until) => tokio::time::sleep_until(until).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    heard = self.heard.recv() => self.hear(&id, heard, &mut signs)?,
                    () = wait => break,
                }
                if signs.reply.is_some() && until.is_none() {
                    until = Some(Instant::now() + ASK_AGAIN);
                }
            }
            if let (Some(reply), true) = (signs.reply, signs.is_idle) {
                return Ok(reply["language_info"].clone());
            }
        }
    }

    fn hear(&self, id: &str, heard: Option<Heard>, signs: &mut Signs) -> Result<(), String> {
        let Heard { channel, frames, .. } = heard.ok_or("its connection was closed")?;
        let frames = frames.map_err(|error| format!("its connection was closed: {error}"))?;
        let Some(message) = self.session.read(&frames).filter(|message| message.parent == id) else { return Ok(()) };
        match channel {
            Channel::Shell => signs.reply = Some(message.content),
            Channel::Iopub => signs.is_idle |= message.content["execution_state"] == "idle",
            Channel::Control => {}
        }
        Ok(())
    }
}
