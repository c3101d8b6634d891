//! Talks to `interlock acp` with the client library that editors use: `acp-check COMMAND FOLDER PROMPT`. Confirms everything
//! and prints the updates. `scripts/acp.sh` runs it.

use std::{path::PathBuf, str::FromStr, time::Duration};

use agent_client_protocol::{
    AcpAgent, Agent, Client,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
            RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
            SessionNotification, TextContent,
        },
    },
};

/// The longest time of a session.
const SESSION_MAX: Duration = Duration::from_secs(300);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [command, folder, prompt] = &words[..] else { return Err("usage: acp-check COMMAND FOLDER PROMPT".into()) };
    let agent = AcpAgent::from_str(command)?;
    let (folder, prompt) = (PathBuf::from(folder), prompt.clone());
    let client = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _cx| {
                println!("update {:?}", notification.update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                println!("asked {:?}", request.tool_call);
                let once = request.options.iter().find(|option| option.kind == PermissionOptionKind::AllowOnce);
                responder.respond(RequestPermissionResponse::new(match once {
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
            println!("initialized {:?}", ready.agent_info);
            let session = connection.send_request(NewSessionRequest::new(folder)).block_task().await?.session_id;
            let prompt = vec![ContentBlock::Text(TextContent::new(prompt))];
            let ended = connection.send_request(PromptRequest::new(session, prompt)).block_task().await?;
            println!("ended {:?}", ended.stop_reason);
            Ok(())
        });
    tokio::time::timeout(SESSION_MAX, client).await??;
    Ok(())
}
