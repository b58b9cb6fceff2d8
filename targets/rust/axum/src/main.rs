//! The target rust-axum: axum on tokio's multi-threaded runtime.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use tokio::net::TcpListener;
use work::{Pong, Reply, SUBMIT_LIMIT, SecuredListener, Stop, User, Work};

#[tokio::main]
#[allow(clippy::disallowed_methods)] // returning would wait for what still hashes
async fn main() {
    std::process::exit(work::run("rust-axum", serve).await)
}

async fn serve(listener: TcpListener, work: Arc<Work>, stop: Stop) -> io::Result<()> {
    match work.tls() {
        None => axum::serve(listener, router(work)).with_graceful_shutdown(stop).await,
        Some(files) => {
            let listener = SecuredListener::new(listener, files)?;
            axum::serve(listener, router(work)).with_graceful_shutdown(stop).await
        }
    }
}

fn router(work: Arc<Work>) -> Router {
    json(work.framework_renders())
        .route("/", get(async |State(work): Shared| respond(work.welcome())))
        .route("/rest/hello", get(async |State(work): Shared| respond(work.hello().await)))
        .route("/index", get(async |State(work): Shared| respond(work.index().await)))
        .route("/hello/{name}", get(async |State(work): Shared, Path(name): Word| respond(work.greet(&name))))
        .route("/submit", post(submit).layer(DefaultBodyLimit::max(SUBMIT_LIMIT)))
        .route("/hash", get(hash))
        .route("/whoami", get(async |State(work): Shared| respond(work.whoami())))
        .with_state(work)
}

/// The paths of JSON: as bytes that are there already, or as axum makes it from a value.
fn json(is_rendered: bool) -> Router<Arc<Work>> {
    if is_rendered {
        return Router::new()
            .route("/user/{id}", get(async |Path(id): Word| Json(User::of(&id)).into_response()))
            .route("/ping", get(async || Json(Pong::PONG)));
    }
    Router::new()
        .route("/user/{id}", get(async |State(work): Shared, Path(id): Word| respond(work.user(&id))))
        .route("/ping", get(async |State(work): Shared| respond(work.ping())))
}

type Shared = State<Arc<Work>>;
type Word = Path<String>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Passes {
    n: String,
    nonce: String,
}

async fn submit(State(work): Shared, body: Bytes) -> Response {
    respond(work.submit(body))
}

async fn hash(State(work): Shared, Query(Passes { n, nonce }): Query<Passes>) -> Response {
    respond(work.hash(&n, nonce).await)
}

fn respond(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, reply.content_type)], reply.body).into_response()
}
