//! Asking a management controller over Redfish: requests, answers, who we are. Paths are followed as the controller gives them, never made up.

use std::time::Duration;

use interlock_http::{Address, Client, Method, Request, base64, header};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Bench, Trouble, stop::stoppable};

/// How long an answer may take: controllers are slow.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// The longest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The one path that every controller has.
const ROOT: &str = "/redfish/v1/";

/// Most members of a collection that are looked at.
const MEMBERS_MAX: usize = 500;

/// Where a controller is, and as whom we come.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redfish {
    /// `https://bmc.example`.
    pub(crate) url: String,
    /// Which system, where the controller has several: its id, its name, or its UUID.
    pub(crate) system: Option<String>,
    username: Option<String>,
    /// The variable that has the password.
    password_env: Option<String>,
    #[serde(default)]
    auth: Auth,
    /// The SHA-256 of its certificate, where nobody vouches for that.
    certificate_sha256: Option<String>,
}

/// How to say who we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Auth {
    /// With every request.
    #[default]
    Basic,
    /// Once, for a token.
    Session,
}

/// A controller that knows who we are.
pub(crate) struct Asking<'a> {
    bench: Bench<'a>,
    redfish: &'a Redfish,
    address: Address,
    client: Client,
    /// A header and its value.
    identity: Option<(header::HeaderName, String)>,
    /// Where our session is, to be ended.
    session: Option<String>,
}

/// An answer.
struct Answer {
    status: u16,
    body: Value,
    token: Option<String>,
    location: Option<String>,
}

impl Redfish {
    /// Whether it could be used.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        Address::parse(&self.url).map_err(|why| Trouble::config("redfish.url", why))?;
        if self.username.is_some() != self.password_env.is_some() {
            return Err(Trouble::config("redfish", "is to have both `username` and `password_env`, or neither"));
        }
        match self.certificate_sha256.as_deref().map(fingerprint) {
            Some(None) => Err(Trouble::config("redfish.certificate_sha256", "is to be 64 hexadecimal digits")),
            _ => Ok(()),
        }
    }

    /// Its host.
    pub(crate) fn host(&self) -> String {
        Address::parse(&self.url).map_or_else(|_| self.url.clone(), |(address, _)| address.host)
    }

    /// Begins to ask.
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
            let value = format!("Basic {}", base64(format!("{username}:{password}").as_bytes()));
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
        // Some give a whole URL.
        self.session = answer.location.map(|place| match place.find("/redfish/") {
            Some(at) => place[at..].to_owned(),
            None => place,
        });
        Ok(())
    }

    /// Ends our session, where there is one.
    pub(crate) async fn leave(self) {
        if let Some(session) = &self.session {
            // It ends by itself later on.
            let _ = self.request(&Method::DELETE, session, None).await;
        }
    }

    /// What is at a path.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.found(path).await?.ok_or_else(|| Trouble::environment(format!("{} has no {path}", self.address.host)))
    }

    /// What is at a path, if there is anything.
    pub(crate) async fn found(&self, path: &str) -> Result<Option<Value>, Trouble> {
        let answer = self.request(&Method::GET, path, None).await?;
        match answer.status {
            200..300 => Ok(Some(answer.body)),
            404 | 405 | 501 => Ok(None),
            _ => Err(self.refused("GET", path, &answer)),
        }
    }

    /// The members of a collection.
    pub(crate) async fn members(&self, path: &str) -> Result<Vec<Value>, Trouble> {
        let Some(collection) = self.found(path).await? else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        for member in collection["Members"].as_array().into_iter().flatten().take(MEMBERS_MAX) {
            match member["@odata.id"].as_str() {
                // Some collections have their members in them.
                Some(_) if member.as_object().is_some_and(|fields| fields.len() > 1) => members.push(member.clone()),
                Some(path) => members.extend(self.found(path).await?),
                None => {}
            }
        }
        Ok(members)
    }

    /// Has something done.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<(), Trouble> {
        let answer = self.request(&Method::POST, path, Some(body)).await?;
        self.accepted("POST", path, &answer)
    }

    /// Has something changed.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<(), Trouble> {
        let answer = self.request(&Method::PATCH, path, Some(body)).await?;
        self.accepted("PATCH", path, &answer)
    }

    fn accepted(&self, method: &str, path: &str, answer: &Answer) -> Result<(), Trouble> {
        match answer.status {
            200..300 => Ok(()),
            _ => Err(self.refused(method, path, answer)),
        }
    }

    fn refused(&self, method: &str, path: &str, answer: &Answer) -> Trouble {
        let error = &answer.body["error"];
        let told = error["@Message.ExtendedInfo"][0]["Message"].as_str().or(error["message"].as_str());
        let told = told.map(|told| format!(": {told}")).unwrap_or_default();
        Trouble::environment(format!("{} answered {} to {method} {path}{told}", self.address.host, answer.status))
    }

    async fn request(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Answer, Trouble> {
        stoppable(self.bench, ANSWER_MAX, &self.address.host, self.exchange(method, path, body)).await
    }

    async fn exchange(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Answer, Trouble> {
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
        Ok(Answer {
            status: response.status,
            // What is no JSON says nothing that anybody here understands.
            body: serde_json::from_slice(&read).unwrap_or_default(),
            token: response.header("x-auth-token").map(str::to_owned),
            location: response.header("location").map(str::to_owned),
        })
    }

    /// The system that is meant.
    pub(crate) async fn system(&self) -> Result<Value, Trouble> {
        let root = self.get(ROOT).await?;
        let path = link(&root, "Systems").ok_or_else(|| Trouble::environment("it knows no systems"))?.to_owned();
        let systems = self.members(&path).await?;
        let names =
            |system: &Value| ["Id", "Name", "UUID"].map(|field| system[field].as_str().unwrap_or("").to_owned());
        match &self.redfish.system {
            Some(wanted) => systems.into_iter().find(|system| names(system).contains(wanted)).ok_or_else(|| {
                Trouble::config("redfish.system", format!("is `{wanted}`, which {} does not know", self.address.host))
            }),
            None if systems.len() > 1 => {
                let known: Vec<_> = systems.iter().map(|system| names(system)[0].clone()).collect();
                Err(Trouble::config("redfish.system", format!("is missing; there are {}", known.join(", "))))
            }
            None => systems.into_iter().next().ok_or_else(|| Trouble::environment("it knows no system")),
        }
    }
}

/// Where a field leads.
pub(crate) fn link<'v>(from: &'v Value, field: &str) -> Option<&'v str> {
    from[field]["@odata.id"].as_str()
}

fn fingerprint(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes?.try_into().ok()
}
