//! `interlock token`: lists, adds and removes the tokens with which programs use the server.

use interlock_journal::moment;
use interlock_server::{Access, Role, Token};
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    args::{RoleName, Token as Args, TokenAction},
    failure::Failure,
    output::Output,
    store::Store,
    table,
};

/// Carries out an action on tokens.
pub(crate) fn run(args: &Args, output: &Output) -> Outcome {
    let access = Access::of_store(&Store::open()?.home);
    match &args.action {
        None | Some(TokenAction::List) => list(&access, output),
        Some(TokenAction::Add { name, role, days }) => {
            let token = access.add_token(name, (*role).into(), Some(*days))?;
            match output.is_json() {
                true => output.json(&json!({ "name": name, "token": token }))?,
                false => output.data(&format!("{token}\n"))?,
            }
            output.talk("It is not stored and cannot be shown again. Send it as `Authorization: Bearer TOKEN`.\n");
            Ok(Exit::Good)
        }
        Some(TokenAction::Remove { name }) => match access.remove_token(name)? {
            true => Ok(Exit::Good),
            false => Err(Failure::bad_input(format!("there is no token called `{name}`"))
                .hint("`interlock token` lists the tokens")),
        },
    }
}

fn list(access: &Access, output: &Output) -> Outcome {
    let tokens = access.tokens()?;
    let expires = |token: &Token| token.expires_ms.map(moment::rfc3339);
    if output.is_json() {
        let row = |token: &Token| -> Json {
            json!({ "name": token.name, "role": token.role, "created": moment::rfc3339(token.created_ms), "expires": expires(token) })
        };
        output.json(&tokens.iter().map(row).collect::<Vec<_>>())?;
        return Ok(Exit::Good);
    }
    if tokens.is_empty() {
        output.talk("No tokens. Add one with `interlock token add NAME --role viewer`\n");
        return Ok(Exit::Good);
    }
    let rows = tokens.iter().map(|token| {
        [token.name.clone(), token.role.word().to_owned(), expires(token).unwrap_or_else(|| "never".to_owned())]
    });
    output.data(&table::text(["token", "role", "expires"], rows, output))?;
    Ok(Exit::Good)
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Viewer => Role::Viewer,
            RoleName::Agent => Role::Agent,
            RoleName::Operator => Role::Operator,
            RoleName::Admin => Role::Admin,
        }
    }
}
