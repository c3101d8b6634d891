//! Accesses a management controller over Redfish: requests, answers and authentication. Paths are followed as the
//! controller gives them and are never constructed.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use interlock_http::{Address, Client, Method, Request, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Bench, Trouble, stop::stoppable};

/// The time limit of an answer: controllers are slow.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The one path that every controller has.
const ROOT: &str = "/redfish/v1/";

/// The largest number of members that are read from a collection.
const MEMBERS_MAX: usize = 500;

/// The address and the credentials of a controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redfish {
    /// The base URL, for example `https://bmc.example`.
    pub(crate) url: String,
    /// The id, name or UUID of the system, required if the controller has several.
    pub(crate) system: Option<String>,
    username: Option<String>,
    /// The name of the variable that contains the password.
    password_env: Option<String>,
    #[serde(default)]
    auth: Auth,
    /// The SHA-256 hash of the controller's certificate, needed if no trusted authority has signed it.
    certificate_sha256: Option<String>,
}

/// The authentication method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Auth {
    /// Sends the credentials with every request.
    #[default]
    Basic,
    /// Logs in once and uses a session token.
    Session,
}

/// An authenticated connection to a controller.
pub(crate) struct Asking<'a> {
    bench: Bench<'a>,
    redfish: &'a Redfish,
    address: Address,
    client: Client,
    /// The authentication header and its value.
    identity: Option<(header::HeaderName, String)>,
    /// The path of our session, which is deleted at the end.
    session: Option<String>,
}

/// The parsed answer to a request.
struct RedfishResponse {
    status: u16,
    body: Value,
    token: Option<String>,
    location: Option<String>,
}

impl Redfish {
    /// Checks that the settings are usable.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        Address::parse(&self.url).map_err(|why| Trouble::config("redfish.url", why))?;
        if self.username.is_some() != self.password_env.is_some() {
            return Err(Trouble::config("redfish", "must have both `username` and `password_env`, or neither"));
        }
        match self.certificate_sha256.as_deref().map(fingerprint) {
            Some(None) => Err(Trouble::config("redfish.certificate_sha256", "must be 64 hexadecimal digits")),
            _ => Ok(()),
        }
    }

    /// Returns the host of the URL.
    pub(crate) fn host(&self) -> String {
        Address::parse(&self.url).map_or_else(|_| self.url.clone(), |(address, _)| address.host)
    }

    /// Connects to the controller and authenticates.
    pub(crate) async fn ask<'a>(&'a self, bench: Bench<'a>) -> Result<Asking<'a>, Trouble> {
        let (address, _) = Address::parse(&self.url).map_err(|why| Trouble::config("redfish.url", why))?;
        let pin = self.certificate_sha256.as_deref().and_then(fingerprint);
        let client = pin.map_or_else(Client::default, Client::pinned);
        let mut asking = Asking { bench, redfish: self, address, client, identity: None, session: None };
        asking.introduce().await?;
        Ok(asking)
    }

    fn password(&self) -> Result<Option<(String, String)>, Trouble> {
        let (Some(username), Some(name)) = (&self.username, &self.password_env) else { return Ok(None) };
        let password = std::env::var(name).map_err(|_| {
            Trouble::config("redfish.password_env", format!("names the variable {name}, which is not set"))
        })?;
        Ok(Some((username.clone(), password)))
    }
}

impl Asking<'_> {
    async fn introduce(&mut self) -> Result<(), Trouble> {
        let Some((username, password)) = self.redfish.password()? else { return Ok(()) };
        if self.redfish.auth == Auth::Basic {
            let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{username}:{password}")));
            self.identity = Some((header::AUTHORIZATION, value));
            return Ok(());
        }
        let root = self.get(ROOT).await?;
        let sessions = link(&root["Links"], "Sessions").unwrap_or("/redfish/v1/SessionService/Sessions").to_owned();
        let body = json!({ "UserName": username, "Password": password });
        let answer = self.request(&Method::POST, &sessions, Some(&body)).await?;
        let token = answer.token.clone().filter(|_| (200..300).contains(&answer.status));
        let token = token.ok_or_else(|| self.refused("POST", &sessions, &answer))?;
        self.identity = Some((header::HeaderName::from_static("x-auth-token"), token));
        // Some controllers return a full URL.
        self.session = answer.location.map(|place| match place.find("/redfish/") {
            Some(at) => place[at..].to_owned(),
            None => place,
        });
        Ok(())
    }

    /// Ends our session, if there is one.
    pub(crate) async fn leave(self) {
        if let Some(session) = &self.session {
            // If this fails, the controller ends the session by itself later.
            let _ = self.request(&Method::DELETE, session, None).await;
        }
    }

    /// Returns the resource at a path; a missing one is an error.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.found(path).await?.ok_or_else(|| Trouble::environment(format!("{} has no {path}", self.address.host)))
    }

    /// Returns the resource at a path, or `None` if there is none.
    pub(crate) async fn found(&self, path: &str) -> Result<Option<Value>, Trouble> {
        let answer = self.request(&Method::GET, path, None).await?;
        match answer.status {
            200..300 => Ok(Some(answer.body)),
            404 | 405 | 501 => Ok(None),
            _ => Err(self.refused("GET", path, &answer)),
        }
    }

    /// Returns the members of a collection.
    pub(crate) async fn members(&self, path: &str) -> Result<Vec<Value>, Trouble> {
        let Some(collection) = self.found(path).await? else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        for member in collection["Members"].as_array().into_iter().flatten().take(MEMBERS_MAX) {
            match member["@odata.id"].as_str() {
                // Some collections contain their members inline.
                Some(_) if member.as_object().is_some_and(|fields| fields.len() > 1) => members.push(member.clone()),
                Some(path) => members.extend(self.found(path).await?),
                None => {}
            }
        }
        Ok(members)
    }

    /// Invokes an action and expects success.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<(), Trouble> {
        let answer = self.request(&Method::POST, path, Some(body)).await?;
        self.accepted("POST", path, &answer)
    }

    /// Changes a resource and expects success.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<(), Trouble> {
        let answer = self.request(&Method::PATCH, path, Some(body)).await?;
        self.accepted("PATCH", path, &answer)
    }

    fn accepted(&self, method: &str, path: &str, answer: &RedfishResponse) -> Result<(), Trouble> {
        match answer.status {
            200..300 => Ok(()),
            _ => Err(self.refused(method, path, answer)),
        }
    }

    fn refused(&self, method: &str, path: &str, answer: &RedfishResponse) -> Trouble {
        let error = &answer.body["error"];
        let told = error["@Message.ExtendedInfo"][0]["Message"].as_str().or(error["message"].as_str());
        let told = told.map(|told| format!(": {told}")).unwrap_or_default();
        Trouble::environment(format!("{} answered {} to {method} {path}{told}", self.address.host, answer.status))
    }

    async fn request(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<RedfishResponse, Trouble> {
        stoppable(self.bench, ANSWER_MAX, &self.address.host, self.exchange(method, path, body)).await
    }

    async fn exchange(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<RedfishResponse, Trouble> {
        let mut request = Request::builder().method(method).uri(path).header("OData-Version", "4.0");
        request = request.header(header::ACCEPT, "application/json");
        if let Some((name, value)) = &self.identity {
            request = request.header(name, value);
        }
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(bytes).map_err(Trouble::environment)?;
        let connection = self.client.connect(&self.address).await.map_err(Trouble::environment)?;
        let mut response = connection.send(request).await.map_err(Trouble::environment)?;
        let read = response.rest(ANSWER_BYTES_MAX).await.map_err(Trouble::environment)?;
        Ok(RedfishResponse {
            status: response.status,
            // A body that is not JSON carries no usable information.
            body: serde_json::from_slice(&read).unwrap_or_default(),
            token: response.header("x-auth-token").map(str::to_owned),
            location: response.header("location").map(str::to_owned),
        })
    }

    /// Returns the configured system, or the only one.
    pub(crate) async fn system(&self) -> Result<Value, Trouble> {
        let root = self.get(ROOT).await?;
        let path = link(&root, "Systems").ok_or_else(|| Trouble::environment("it has no systems"))?.to_owned();
        let systems = self.members(&path).await?;
        let names =
            |system: &Value| ["Id", "Name", "UUID"].map(|field| system[field].as_str().unwrap_or("").to_owned());
        match &self.redfish.system {
            Some(wanted) => systems.into_iter().find(|system| names(system).contains(wanted)).ok_or_else(|| {
                Trouble::config("redfish.system", format!("is `{wanted}`, which {} does not have", self.address.host))
            }),
            None if systems.len() > 1 => {
                let known: Vec<_> = systems.iter().map(|system| names(system)[0].clone()).collect();
                Err(Trouble::config("redfish.system", format!("is missing; there are {}", known.join(", "))))
            }
            None => systems.into_iter().next().ok_or_else(|| Trouble::environment("it has no system")),
        }
    }
}

/// Returns the path that a link field contains.
pub(crate) fn link<'v>(from: &'v Value, field: &str) -> Option<&'v str> {
    from[field]["@odata.id"].as_str()
}

fn fingerprint(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes?.try_into().ok()
}
