//! A running Jupyter kernel and the cells that it executes.
//!
//! The kernel runs in the sandbox and is reached over socket files in a private directory, so it needs no network. A
//! cell is over when both the reply and the status `idle` have come: the last output may arrive after the reply. Tasks
//! of their own read the sockets, so that a kernel never waits for a reader.

mod folder;
mod message;
mod process;
mod spec;
mod start;
mod zmtp;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use interlock_activity::{Attempt, Cancel};
use serde_json::{Value as Json, json};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::JoinHandle,
    time::Instant,
};

pub(crate) use message::Message;
pub(crate) use process::Death;
pub(crate) use spec::{Kernelspec, find};
pub(crate) use start::start;

use folder::Folder;
use message::Session;
use process::Process;
use zmtp::{Receiver, Sender};

/// The time that a kernel has to react to an interrupt.
const INTERRUPT_MAX: Duration = Duration::from_secs(5);

/// The number of messages that wait to be processed. A kernel that prints faster is slowed down.
const WAITING_MAX: usize = 64;

/// The size of these messages together, in KiB: one message of the largest size.
const WAITING_KIB_MAX: usize = zmtp::MESSAGE_BYTES_MAX / 1_024;

/// The channel that a message came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    Shell,
    Iopub,
    Control,
}

type Frames = io::Result<Vec<Vec<u8>>>;

/// A message that a socket has received, with its share of the room for waiting messages.
#[derive(Debug)]
struct Heard {
    channel: Channel,
    frames: Frames,
    _room: Option<OwnedSemaphorePermit>,
}

/// A running kernel. Dropping it ends the kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The kernelspec that it was started from.
    pub(crate) spec: Kernelspec,
    /// The kernel's description of its language: `name`, `file_extension` and so on.
    pub(crate) language_info: Json,
    session: Session,
    shell: Sender,
    control: Sender,
    heard: mpsc::Receiver<Heard>,
    is_listening: Arc<AtomicBool>,
    process: Process,
    readers: Vec<JoinHandle<()>>,
    // Dropped last: the directory of the sockets.
    _folder: Folder,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.readers.iter().for_each(JoinHandle::abort);
    }
}

/// The way in which a request ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ended {
    /// The kernel has replied with this content.
    Replied(Json),
    /// The kernel is gone.
    Died(Death),
    /// The time limit was reached and the kernel was interrupted. If it reacted, it can be used again.
    TimedOut {
        /// True if the kernel has ended the cell.
        has_reacted: bool,
    },
    /// The attempt was cancelled and the kernel was interrupted.
    Cancelled {
        /// True if the kernel has ended the cell.
        has_reacted: bool,
    },
}

/// The reason why a cell was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interrupted {
    ByLimit,
    ByCancel,
}

impl Interrupted {
    fn ended(self, has_reacted: bool) -> Ended {
        match self {
            Interrupted::ByLimit => Ended::TimedOut { has_reacted },
            Interrupted::ByCancel => Ended::Cancelled { has_reacted },
        }
    }
}

/// The two signs that a request is over.
#[derive(Debug, Default)]
struct Signs {
    reply: Option<Json>,
    is_idle: bool,
}

impl Kernel {
    /// Returns true if the process of the kernel is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.process.is_gone()
    }

    /// Sets the attempt that the kernel works for, and whose changes are kept if this process is killed.
    pub(crate) fn works_for(&self, attempt: &Attempt) {
        self.process.works_for(attempt);
    }

    /// Executes code and waits until all its output has come. `take` gets every message of the output.
    pub(crate) async fn execute(
        &mut self,
        request: &Json,
        limit: Duration,
        cancel: &mut Cancel,
        take: &mut (dyn FnMut(Message) + Send),
    ) -> Ended {
        self.request("execute_request", request, limit, cancel, take).await
    }

    /// Asks the kernel about a name. Returns its description, if it has one.
    pub(crate) async fn inspect(&mut self, name: &str, limit: Duration, cancel: &mut Cancel) -> Option<String> {
        let content = json!({ "code": name, "cursor_pos": name.chars().count(), "detail_level": 0 });
        match self.request("inspect_request", &content, limit, cancel, &mut drop).await {
            Ended::Replied(reply) if reply["found"] == true => reply["data"]["text/plain"].as_str().map(str::to_owned),
            _ => None,
        }
    }

    async fn request(
        &mut self,
        kind: &str,
        content: &Json,
        limit: Duration,
        cancel: &mut Cancel,
        take: &mut (dyn FnMut(Message) + Send),
    ) -> Ended {
        let (id, frames) = self.session.request(kind, content);
        self.is_listening.store(true, Ordering::SeqCst);
        if self.shell.send(&frames).await.is_err() {
            return self.died().await;
        }
        let ended = self.until_over(&id, limit, cancel, take).await;
        self.is_listening.store(false, Ordering::SeqCst);
        ended
    }

    async fn until_over(
        &mut self,
        id: &str,
        limit: Duration,
        cancel: &mut Cancel,
        take: &mut (dyn FnMut(Message) + Send),
    ) -> Ended {
        let (mut signs, mut interrupted) = (Signs::default(), None::<Interrupted>);
        let mut deadline = Instant::now() + limit;
        loop {
            if let (Some(_), true) = (&signs.reply, signs.is_idle) {
                return match interrupted {
                    Some(why) => why.ended(true),
                    None => Ended::Replied(signs.reply.unwrap_or_default()),
                };
            }
            tokio::select! {
                heard = self.heard.recv() => match heard {
                    Some(Heard { channel, frames: Ok(frames), .. }) => self.hear(id, channel, &frames, &mut signs, take),
                    Some(_) | None => return self.died().await,
                },
                () = tokio::time::sleep_until(deadline) => match interrupted {
                    Some(why) => return why.ended(false),
                    None => {
                        interrupted = Some(Interrupted::ByLimit);
                        deadline = self.interrupt().await;
                    }
                },
                () = cancel.cancelled(), if interrupted.is_none() => {
                    interrupted = Some(Interrupted::ByCancel);
                    deadline = self.interrupt().await;
                }
                death = self.process.gone() => return Ended::Died(death),
            }
        }
    }

    /// Processes one message. Messages of other requests are dropped.
    fn hear(
        &self,
        id: &str,
        channel: Channel,
        frames: &[Vec<u8>],
        signs: &mut Signs,
        take: &mut (dyn FnMut(Message) + Send),
    ) {
        let Some(message) = self.session.read(frames).filter(|message| message.parent == id) else { return };
        match channel {
            Channel::Shell => signs.reply = Some(message.content),
            Channel::Iopub if message.kind == "status" => signs.is_idle |= message.content["execution_state"] == "idle",
            Channel::Iopub => take(message),
            Channel::Control => {}
        }
    }

    /// Interrupts the cell. Returns the time until which the kernel should have ended it.
    async fn interrupt(&mut self) -> Instant {
        if self.spec.is_interrupted_by_message {
            let (_, frames) = self.session.request("interrupt_request", &json!({}));
            let _ = self.control.send(&frames).await;
        } else {
            self.process.interrupt();
        }
        Instant::now() + INTERRUPT_MAX
    }

    /// The end of a kernel whose connection has closed: its process ends too, or is taken as lost.
    async fn died(&mut self) -> Ended {
        let lost = Death { why: "it closed its connection".to_owned(), is_limit: false };
        Ended::Died(tokio::time::timeout(INTERRUPT_MAX, self.process.gone()).await.unwrap_or(lost))
    }
}

/// Reads a socket until it closes. Messages that nobody waits for are dropped: output that comes between two cells.
fn listen(
    channel: Channel,
    mut from: Receiver,
    to: mpsc::Sender<Heard>,
    is_listening: Arc<AtomicBool>,
    room: Arc<Semaphore>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let frames = from.receive().await;
            let is_end = frames.is_err();
            let is_wanted = is_end || is_listening.load(Ordering::SeqCst);
            let _room = if is_wanted { take_room(&room, &frames).await } else { None };
            let is_dropped = is_wanted && to.send(Heard { channel, frames, _room }).await.is_err();
            if is_end || is_dropped {
                return;
            }
        }
    })
}

/// Waits until there is room for a message, so that a kernel cannot fill the memory of this process.
async fn take_room(room: &Arc<Semaphore>, frames: &Frames) -> Option<OwnedSemaphorePermit> {
    let bytes: usize = frames.as_ref().map_or(0, |frames| frames.iter().map(Vec::len).sum());
    let kib = u32::try_from((bytes / 1_024).min(WAITING_KIB_MAX)).ok()?;
    room.clone().acquire_many_owned(kib).await.ok()
}
