//! Makes vectors of texts with a server that speaks OpenAI's embeddings API.
//!
//! The knowledge base searches with these vectors (`crates/store/knowledge/src/meaning.rs`).

use std::{future::Future, time::Duration};

use interlock_http::{Address, Client, Method, Request, header};
use serde_json::{Value, json};

use crate::settings::Server;

/// The maximum number of texts in one request.
const TEXTS_PER_REQUEST: usize = 32;

/// The longest answer that is read.
const REPLY_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The maximum length of a vector that is accepted.
const VECTOR_MAX: usize = 16_384;

/// A client of one embeddings server.
#[derive(Clone, Debug)]
pub struct Embedder {
    server: Server,
    client: Client,
}

impl Embedder {
    /// Creates an embedder for a server of the settings.
    pub fn new(server: &Server) -> Self {
        Embedder { server: server.clone(), client: Client::default().through(server.proxy.clone()) }
    }

    /// Returns the model's name. Vectors of different models cannot be compared.
    pub fn model(&self) -> &str {
        &self.server.model
    }

    /// Returns the vectors of these texts, in the same order.
    ///
    /// # Errors
    ///
    /// Returns a description of the failure; it never contains the key.
    pub async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let mut all = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS_PER_REQUEST) {
            let answer = within(self.server.timeouts.total, "whole answer", self.ask(texts)).await??;
            all.extend(read(&answer, texts.len())?);
        }
        Ok(all)
    }

    async fn ask(&self, texts: &[String]) -> Result<Value, String> {
        let times = self.server.timeouts;
        let url = format!("{}/embeddings", self.server.base_url);
        let (address, path) = Address::parse(&url).map_err(|why| format!("the URL {url} {why}"))?;
        let request = self.request(texts, path)?;
        let said = |error: interlock_http::Error| error.to_string();
        let connection = within(times.connect, "connection", self.client.connect(&address)).await?.map_err(said)?;
        let mut response =
            within(times.first_byte, "beginning of an answer", connection.send(request)).await?.map_err(said)?;
        let body = response.rest(REPLY_BYTES_MAX).await.map_err(said)?;
        match response.status {
            200..300 => serde_json::from_slice(&body).map_err(|error| format!("its answer is not JSON: {error}")),
            status => {
                let text = String::from_utf8_lossy(&body).split_whitespace().collect::<Vec<_>>().join(" ");
                Err(format!("{url} answered {status}: {}", text.chars().take(200).collect::<String>()))
            }
        }
    }

    fn request(&self, texts: &[String], path: interlock_http::Uri) -> Result<Request<Vec<u8>>, String> {
        let body = json!({ "model": self.server.model, "input": texts, "encoding_format": "float" });
        let mut request = Request::new(body.to_string().into_bytes());
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, path);
        let key = self.server.key.read()?.map(|key| ("authorization", format!("Bearer {key}")));
        let own = self.server.headers.iter().map(|(name, value)| (name.as_str(), value.clone()));
        for (name, value) in [("content-type", "application/json".to_owned())].into_iter().chain(key).chain(own) {
            let name_of = header::HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            let mut value = header::HeaderValue::from_str(&value)
                .map_err(|_| format!("the header {name} has a value that cannot be sent"))?;
            value.set_sensitive(true);
            request.headers_mut().insert(name_of, value);
        }
        Ok(request)
    }
}

async fn within<T>(time: Duration, what: &str, work: impl Future<Output = T>) -> Result<T, String> {
    let late = || format!("there was no {what} within {} s", time.as_secs_f64());
    tokio::time::timeout(time, work).await.map_err(|_| late())
}

/// Reads the vectors from an answer: exactly one for each text, all of one length.
fn read(answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let data = answer.get("data").and_then(Value::as_array).ok_or("its answer has no `data`")?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
    for (place, row) in data.iter().enumerate() {
        let index =
            row.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
        let vector = row.get("embedding").and_then(Value::as_array).and_then(|values| vector(values));
        let place = vectors.get_mut(index).ok_or("its answer has a vector for an unknown text")?;
        *place = vector.ok_or("its answer has an invalid vector")?;
    }
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.is_empty() || vector.len() != length) {
        return Err(format!("its answer does not have one vector of equal length for each of {count} texts"));
    }
    Ok(vectors)
}

fn vector(values: &[Value]) -> Option<Vec<f32>> {
    let numbers =
        values.iter().map(|value| value.as_f64().map(|number| number as f32).filter(|number| number.is_finite()));
    numbers.collect::<Option<Vec<f32>>>().filter(|vector| vector.len() <= VECTOR_MAX)
}
