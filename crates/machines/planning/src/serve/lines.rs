//! The body of a streamed answer: one action per line, each sent as soon as it is made.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value as Json, json};
use tokio::{sync::mpsc, task::JoinHandle};

/// The lines of an answer. Dropping it ends the work that makes them.
#[derive(Debug)]
pub(super) struct Lines {
    first: Option<Json>,
    rest: mpsc::Receiver<Json>,
    work: JoinHandle<Result<(), String>>,
    is_over: bool,
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Lines {
    /// Waits for the first action. The error is the reason why there is none; an answer without actions has no lines.
    pub(super) async fn begin(
        mut made: mpsc::Receiver<Json>,
        mut work: JoinHandle<Result<(), String>>,
    ) -> Result<Self, String> {
        let first = made.recv().await;
        if first.is_none() {
            (&mut work).await.map_err(|error| error.to_string())??;
        }
        Ok(Lines { is_over: first.is_none(), first, rest: made, work })
    }
}

fn line(action: &Json) -> Frame<Bytes> {
    Frame::data(Bytes::from(format!("{}\n", json!({ "action": action }))))
}

impl Body for Lines {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(line(&first))));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(action) = ready!(self.rest.poll_recv(context)) {
            return Poll::Ready(Some(Ok(line(&action))));
        }
        let ended = ready!(Pin::new(&mut self.work).poll(context));
        self.is_over = true;
        match ended.map_err(|error| error.to_string()).and_then(|ended| ended) {
            Ok(()) => Poll::Ready(None),
            Err(why) => Poll::Ready(Some(Err(io::Error::other(why)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, net::Ipv4Addr, sync::Mutex, time::Duration};

    use hyper::{Response, server::conn::http1, service::service_fn};
    use hyper_util::rt::TokioIo;
    use tokio::net::TcpListener;

    use super::*;
    use crate::client::{Endpoint, Server};

    type Work = (mpsc::Receiver<Json>, JoinHandle<Result<(), String>>);

    /// Serves one answer with the actions of a channel. Returns the address of the server.
    async fn serve(work: Work) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let work = Mutex::new(Some(work));
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = service_fn(|_| {
                let (made, work) = work.lock().unwrap().take().unwrap();
                async { Ok::<_, Infallible>(Response::new(Lines::begin(made, work).await.unwrap())) }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
        url
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_first_line_arrives_before_the_last_action_is_made() {
        let (to, made) = mpsc::channel(1);
        let url = serve((made, tokio::spawn(async { Ok(()) }))).await;
        let (arrived, mut seen) = mpsc::unbounded_channel();
        let asked = tokio::spawn(async move {
            let server = Server::new(&url, None).unwrap();
            let piece = |bytes: &[u8]| drop(arrived.send(String::from_utf8(bytes.to_vec()).unwrap()));
            server.post(Endpoint::Generating, &json!({}), Duration::from_secs(30), piece).await
        });
        // The second action is made only after the client has received the line of the first.
        for name in ["one", "two"] {
            to.send(json!({ "action": name })).await.unwrap();
            assert_eq!(seen.recv().await.unwrap(), format!("{{\"action\":{{\"action\":\"{name}\"}}}}\n"));
        }
        drop(to);
        assert_eq!(asked.await.unwrap().unwrap().iter().filter(|byte| **byte == b'\n').count(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failure_after_the_first_line_breaks_the_answer_off() {
        let (to, made) = mpsc::channel(1);
        let url = serve((made, tokio::spawn(async { Err("lost".to_owned()) }))).await;
        to.send(json!({ "action": "one" })).await.unwrap();
        drop(to);
        let server = Server::new(&url, None).unwrap();
        let answer = server.post(Endpoint::Generating, &json!({}), Duration::from_secs(30), |_| ()).await;
        assert!(answer.is_err(), "{answer:?}");
    }

    #[tokio::test]
    async fn a_failure_before_the_first_line_is_an_error_and_no_action_is_none() {
        let begin = |result| {
            let (_, made) = mpsc::channel(1);
            Lines::begin(made, tokio::spawn(async { result }))
        };
        assert_eq!(begin(Err("lost".to_owned())).await.unwrap_err(), "lost");
        assert!(begin(Ok(())).await.unwrap().is_over);
    }
}
