//! `interlock acp` with the client of the Agent Client Protocol that editors use.

use std::{
    str::FromStr as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use agent_client_protocol::{
    AcpAgent, Agent, Client,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            CancelNotification, ContentBlock, InitializeRequest, LoadSessionRequest, NewSessionRequest,
            PermissionOptionKind, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest,
            RequestPermissionResponse, SelectedPermissionOutcome, SessionNotification, StopReason, TextContent,
        },
    },
};
use interlock_testkit_activity::model_server::{CoderTurn, Move};

use super::scene::{AFTER, BEFORE, Scene, repair};

const GOAL: &str = "count the arguments";

/// The longest time of a session.
const SESSION_MAX: Duration = Duration::from_secs(120);

/// The choice of the person at the editor.
#[derive(Clone, Copy)]
enum Answer {
    Choose(PermissionOptionKind),
    /// Cancels the turn instead of an answer.
    Cancel,
}

/// What the editor has seen.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn has(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|update| update.contains(text))
    }
}

/// Sends prompts in one session and returns the reasons of their ends and the id of the session.
fn prompts(scene: &Scene, texts: &[&str], session: Option<&str>, answer: Answer) -> (Vec<StopReason>, String, Seen) {
    let home = scene.session.folder().join("../home").canonicalize().unwrap();
    let command = format!("env INTERLOCK_HOME={} {} acp", home.display(), env!("CARGO_BIN_EXE_interlock"));
    let agent = AcpAgent::from_str(&command).unwrap();
    let (seen, folder) = (Seen::default(), scene.session.folder().to_owned());
    let (noted, asked) = (seen.clone(), seen.clone());
    let result = Arc::new(Mutex::new((Vec::new(), String::new())));
    let (told, texts) = (Arc::clone(&result), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    let session = session.map(str::to_owned);
    let client = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _cx| {
                noted.0.lock().unwrap().push(format!("{:?}", notification.update));
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection: ConnectionTo<Agent>| {
                asked.0.lock().unwrap().push(format!("{request:?}"));
                let chosen = match answer {
                    Answer::Choose(kind) => request.options.iter().find(|option| option.kind == kind),
                    Answer::Cancel => {
                        connection.send_notification(CancelNotification::new(request.session_id.clone()))?;
                        None
                    }
                };
                responder.respond(RequestPermissionResponse::new(match chosen {
                    Some(option) => {
                        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
                    }
                    None => RequestPermissionOutcome::Cancelled,
                }))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(agent, |connection: ConnectionTo<Agent>| async move {
            let ready = connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            assert!(ready.agent_capabilities.load_session);
            let id = match session {
                Some(id) => {
                    connection.send_request(LoadSessionRequest::new(id.clone(), folder)).block_task().await?;
                    id.into()
                }
                None => connection.send_request(NewSessionRequest::new(folder)).block_task().await?.session_id,
            };
            for text in texts {
                let prompt = vec![ContentBlock::Text(TextContent::new(text))];
                let ended = connection.send_request(PromptRequest::new(id.clone(), prompt)).block_task().await?;
                told.lock().unwrap().0.push(ended.stop_reason);
            }
            told.lock().unwrap().1 = id.to_string();
            Ok(())
        });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(SESSION_MAX, client).await }).unwrap().unwrap();
    let (reasons, id) = std::mem::take(&mut *result.lock().unwrap());
    (reasons, id, seen)
}

#[test]
fn an_editor_confirms_a_plan_and_sees_the_change() {
    let second = CoderTurn::question("now explain it", vec![Move::done("It prints the number of arguments.")]);
    let scene = Scene::new(vec![repair(GOAL), second]);
    let (reasons, id, seen) =
        prompts(&scene, &[GOAL, "now explain it"], None, Answer::Choose(PermissionOptionKind::AllowOnce));
    assert_eq!(reasons, [StopReason::EndTurn, StopReason::EndTurn]);
    assert_eq!(scene.read("count.sh"), AFTER);
    for text in
        ["Carry out this plan", "read_file count.sh", "Plan", "Diff", "echo 0", "Summary of count the arguments."]
    {
        assert!(seen.has(text), "{text}: {:?}", seen.0.lock().unwrap());
    }
    // The session is a run, and another process can load it.
    assert_eq!(scene.run(&format!("verify {id}")).code, Some(0));
    let (_, _, seen) = prompts(&scene, &[], Some(&id), Answer::Cancel);
    assert!(seen.has(GOAL) && seen.has("Summary of now explain it."), "{:?}", seen.0.lock().unwrap());
}

#[test]
fn an_editor_refuses_a_plan() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let (reasons, ..) = prompts(&scene, &[GOAL], None, Answer::Choose(PermissionOptionKind::RejectOnce));
    assert_eq!((reasons, scene.read("count.sh").as_str()), (vec![StopReason::EndTurn], BEFORE));
}

#[test]
fn an_editor_cancels_a_turn() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let (reasons, ..) = prompts(&scene, &[GOAL], None, Answer::Cancel);
    assert_eq!((reasons, scene.read("count.sh").as_str()), (vec![StopReason::Cancelled], BEFORE));
}
