//! The OpenAPI document, made from the table of endpoints.

use axum::Json;
use serde_json::{Map, Value, json};

use super::{BASE, Endpoint, endpoints};

/// Sends the document.
pub(super) async fn document() -> Json<Value> {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints() {
        let path = paths.entry(format!("{BASE}{}", endpoint.path)).or_insert_with(|| json!({}));
        path[endpoint.method] = operation(&endpoint);
    }
    let error = json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": { "code": { "type": "string" }, "message": { "type": "string" }, "hint": { "type": ["string", "null"] } },
        } },
    });
    Json(json!({
        "openapi": "3.1.0",
        "info": { "title": "Interlock", "version": env!("CARGO_PKG_VERSION"), "summary": "Runs of statecharts that drive agents" },
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": { "Problem": error },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": crate::guard::COOKIE },
            },
        },
    }))
}

fn operation(endpoint: &Endpoint) -> Value {
    let placeholders = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = placeholders
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = endpoint.query.iter().map(|(name, kind, meaning)| {
        json!({ "name": name, "in": "query", "description": meaning, "schema": { "type": kind } })
    });
    let problem = json!({
        "description": "The request failed",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    });
    let role = endpoint.role.map_or("none", crate::Role::word);
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "x-role": role,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": { "200": { "description": "The request succeeded" }, "default": problem },
    });
    if endpoint.role.is_none() {
        operation["security"] = json!([]);
    }
    if !endpoint.body.is_null() {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": endpoint.body } } });
    }
    operation
}

/// Returns a name for the operation: `get_runs_run_trace`.
fn operation_id(endpoint: &Endpoint) -> String {
    let words = endpoint.path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
    std::iter::once(endpoint.method).chain(words).collect::<Vec<_>>().join("_")
}
